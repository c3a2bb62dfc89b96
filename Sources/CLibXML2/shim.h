#pragma once

// ICU's headers stay out: Foundation brings a copy of ICU with other versions of the same types, and the compiler refuses to see
// both. Only the last two members of xmlCharEncodingHandler, which nothing here reads, are left out with them.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/xmlreader.h>

/* byhand.h -- --by-hand: prints the steps (explain/byhand.h), and draws the pictures. */
#pragma once

#include "commands/translate/request.h"

bool request_by_hand(const Request *request, Error *error);

// Precompiled: what every C++ test includes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/pch.h"

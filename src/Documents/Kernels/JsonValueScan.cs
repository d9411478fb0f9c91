using System.Numerics;
using System.Runtime.Intrinsics;

namespace Treepie.Kernels;

/// <summary>
/// Finds the end of a JSON object, array or string that arrives in pieces of any size. Examines only brackets, quotes and
/// backslashes: whether the content is valid, or a closing bracket is of the kind of the opening one, is checked by its parser.
/// </summary>
/// <remarks>
/// Inside an object or array, 64 bytes are classified at a time, as bits of one word (Langdale and Lemire, <em>Parsing Gigabytes
/// of JSON per Second</em>, 2019). <see cref="ReadByte"/> is the scalar twin and reads the rest: the first byte, strings outside
/// of brackets, and less than 64 bytes.
/// </remarks>
internal struct JsonValueScan
{
    private const int BlockBytes = 64;

    private int _depth;
    private bool _inString;
    private bool _isEscaped;

    /// <summary>Whether the end has been found.</summary>
    public bool IsWhole { get; private set; }

    /// <summary>Scans the next piece; returns the number of its bytes that belong to the value.</summary>
    public int Read(ReadOnlySpan<byte> bytes)
    {
        int position = 0;
        while (position < bytes.Length && !IsWhole)
        {
            if (_depth > 0 && bytes.Length - position >= BlockBytes)
                position += ReadBlock(bytes.Slice(position, BlockBytes));
            else
                ReadByte(bytes[position++]);
        }

        return position;
    }

    /// <summary>Scans the next byte.</summary>
    private void ReadByte(byte next)
    {
        if (_isEscaped)
            _isEscaped = false;
        else if (_inString)
        {
            _isEscaped = next == (byte)'\\';
            _inString = next != (byte)'"';
            IsWhole = !_inString && _depth == 0;
        }
        else if (next == (byte)'"')
            _inString = true;
        else if (next is (byte)'{' or (byte)'[')
            _depth++;
        else if (next is (byte)'}' or (byte)']')
            IsWhole = --_depth == 0;
    }

    /// <summary>Scans a block within an object or array.</summary>
    private int ReadBlock(ReadOnlySpan<byte> bytes)
    {
        var block = Vector512.Create(bytes);
        // setting bit 5 makes '{' of '[' and '}' of ']', and of no other byte
        Vector512<byte> folded = block | Vector512.Create((byte)0x20);
        ulong backslashes = Vector512.Equals(block, Vector512.Create((byte)'\\')).ExtractMostSignificantBits();
        ulong escaped = Escaped(backslashes, _isEscaped, out bool escapesNext);
        ulong quotes = Vector512.Equals(block, Vector512.Create((byte)'"')).ExtractMostSignificantBits() & ~escaped;
        ulong inStrings = Parity(quotes) ^ (_inString ? ulong.MaxValue : 0); // from each opening quote to before its closing one
        if ((backslashes & ~inStrings) != 0)
            return ReadScalar(bytes); // outside of strings, where no JSON has one, a backslash escapes nothing

        ulong opening = Vector512.Equals(folded, Vector512.Create((byte)'{')).ExtractMostSignificantBits() & ~inStrings;
        ulong closing = Vector512.Equals(folded, Vector512.Create((byte)'}')).ExtractMostSignificantBits() & ~inStrings;
        int closed = BitOperations.PopCount(closing);
        if (closed >= _depth && EndOf(opening, closing) is >= 0 and var end)
        {
            IsWhole = true;
            return end + 1;
        }

        _depth += BitOperations.PopCount(opening) - closed;
        _inString = (inStrings >> (BlockBytes - 1)) != 0;
        _isEscaped = escapesNext;
        return BlockBytes;
    }

    private int ReadScalar(ReadOnlySpan<byte> bytes)
    {
        int position = 0;
        while (position < bytes.Length && !IsWhole)
            ReadByte(bytes[position++]);
        return position;
    }

    /// <summary>Returns the position of the bracket that closes the value; -1 if it is not in the block.</summary>
    private readonly int EndOf(ulong opening, ulong closing)
    {
        for (int closed = 1; closing != 0; closing &= closing - 1, closed++)
        {
            ulong before = (closing & (~closing + 1)) - 1;
            if (_depth + BitOperations.PopCount(opening & before) == closed)
                return BitOperations.TrailingZeroCount(closing);
        }

        return -1;
    }

    /// <summary>
    /// Returns the bytes that follow an escaping backslash. In a run of backslashes every second one is escaped; a run that
    /// begins at an odd position is added to its start, so that the carry shows where it ends.
    /// </summary>
    private static ulong Escaped(ulong backslashes, bool isFirstEscaped, out bool escapesNext)
    {
        const ulong even = 0x5555_5555_5555_5555;
        ulong first = isFirstEscaped ? 1UL : 0;
        escapesNext = false;
        if (backslashes == 0)
            return first;

        backslashes &= ~first;
        ulong following = (backslashes << 1) | first;
        ulong oddStarts = backslashes & ~even & ~following;
        ulong ends = oddStarts + backslashes;
        escapesNext = ends < backslashes;
        return (even ^ (ends << 1)) & following;
    }

    /// <summary>Sets each bit to the parity of the bits up to and including it.</summary>
    private static ulong Parity(ulong bits)
    {
        bits ^= bits << 1;
        bits ^= bits << 2;
        bits ^= bits << 4;
        bits ^= bits << 8;
        bits ^= bits << 16;
        return bits ^ (bits << 32);
    }
}

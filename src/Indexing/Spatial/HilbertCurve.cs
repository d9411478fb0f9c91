using System.Diagnostics;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// The Hilbert curve through a square of 2³² × 2³² cells. The place of a cell has 64 bits, and all cells whose places have
/// the same first 2·n bits form one square with sides of 2³²⁻ⁿ cells. Four bits of each axis are converted at a time, with
/// tables that are computed once.
/// </summary>
/// <remarks>
/// Each square of the curve is the basic one, or that with both axes mirrored (the bits complemented), with the axes
/// swapped, or both: two bits of state.
/// </remarks>
internal static class HilbertCurve
{
    /// <summary>Levels of squares within squares.</summary>
    public const int Levels = 32;

    private const int Swap = 1;
    private const int Flip = 2;
    private const int States = 4;

    // [state << 8 | x nibble << 4 | y nibble] → next state << 8 | 8 bits of place; and the inverse.
    private static readonly ushort[] _forward = BuildForward();
    private static readonly ushort[] _backward = BuildBackward();

    public static ulong Encode(uint x, uint y)
    {
        ulong place = 0;
        int state = 0;
        for (int shift = 28; shift >= 0; shift -= 4)
        {
            int entry = _forward[(state << 8) | (int)(((x >> shift) & 15) << 4) | (int)((y >> shift) & 15)];
            place = (place << 8) | (byte)entry;
            state = entry >> 8;
        }

        return place;
    }

    public static GridPoint Decode(ulong place)
    {
        uint x = 0;
        uint y = 0;
        int state = 0;
        for (int shift = 56; shift >= 0; shift -= 8)
        {
            int entry = _backward[(state << 8) | (byte)(place >> shift)];
            x = (x << 4) | (uint)((entry >> 4) & 15);
            y = (y << 4) | (uint)(entry & 15);
            state = entry >> 8;
        }

        return new GridPoint(x, y);
    }

    private static ushort[] BuildForward()
    {
        var table = new ushort[States << 8];
        for (int state = 0; state < States; state++)
        {
            for (int x = 0; x < 16; x++)
            {
                for (int y = 0; y < 16; y++)
                    table[(state << 8) | (x << 4) | y] = (ushort)Walk(state, x, y);
            }
        }

        return table;
    }

    private static ushort[] BuildBackward()
    {
        var table = new ushort[States << 8];
        for (int i = 0; i < _forward.Length; i++)
        {
            int state = i >> 8;
            table[(state << 8) | (byte)_forward[i]] = (ushort)((_forward[i] & 0xFF00) | (byte)i);
        }

        return table;
    }

    /// <summary>Performs four steps of the curve, one bit of each axis at a time.</summary>
    private static int Walk(int state, int x, int y)
    {
        Debug.Assert(
            state is >= 0 and < States && x is >= 0 and < 16 && y is >= 0 and < 16, "a step takes four bits of each coordinate");
        int place = 0;
        for (int bit = 3; bit >= 0; bit--)
        {
            int right = (x >> bit) & 1;
            int up = (y >> bit) & 1;
            if ((state & Swap) != 0)
                (right, up) = (up, right);
            if ((state & Flip) != 0)
                (right, up) = (1 - right, 1 - up);
            place = (place << 2) | ((3 * right) ^ up);
            if (up == 0)
                state ^= right == 1 ? Swap | Flip : Swap;
        }

        return (state << 8) | place;
    }
}

using System.Diagnostics;
using System.Numerics;

namespace Treepie.Storage.Memory;

/// <summary>
/// A set of the cache lines of an 8 KiB page that may have been changed, one bit for each of the 128 lines. Maintained by the
/// writers.
/// </summary>
internal struct LineSet
{
    public const int LineBytes = 64;

    /// <summary>The number of bytes covered.</summary>
    public const int CoveredBytes = 2 * LinesPerHalf * LineBytes;

    private const int LinesPerHalf = 64;

    private ulong _low;
    private ulong _high;

    /// <summary>The set of all lines.</summary>
    public static LineSet All => new() { _low = ulong.MaxValue, _high = ulong.MaxValue };

    /// <summary>Whether the set contains every line.</summary>
    public readonly bool IsAll => (_low & _high) == ulong.MaxValue;

    /// <summary>The number of lines in the set.</summary>
    public readonly int Count => BitOperations.PopCount(_low) + BitOperations.PopCount(_high);

    /// <summary>
    /// Returns the bits of the first 64 lines (<paramref name="half"/> 0) or the others (1), lowest bit first.
    /// </summary>
    public readonly ulong Half(int half) => half == 0 ? _low : _high;

    /// <summary>Adds the lines that overlap a range of bytes; at least one.</summary>
    public void Add(int offset, int lengthBytes)
    {
        Debug.Assert(offset >= 0 && lengthBytes >= 0 && offset + lengthBytes <= CoveredBytes, "the lines are covered");
        int first = offset / LineBytes, last = (offset + Math.Max(1, lengthBytes) - 1) / LineBytes;
        if (first < LinesPerHalf)
            _low |= Bits(first, Math.Min(last, LinesPerHalf - 1));
        if (last >= LinesPerHalf)
            _high |= Bits(Math.Max(first, LinesPerHalf) - LinesPerHalf, last - LinesPerHalf);
    }

    /// <summary>Adds the lines of another set.</summary>
    public void Add(LineSet other)
    {
        _low |= other._low;
        _high |= other._high;
    }

    /// <summary>Copies the lines in the set.</summary>
    public readonly void Copy(ReadOnlySpan<byte> from, Span<byte> to)
    {
        Debug.Assert(from.Length >= CoveredBytes && to.Length >= CoveredBytes, "both have all lines");
        if (IsAll)
        {
            from[..CoveredBytes].CopyTo(to);
            return;
        }

        for (int half = 0; half < 2; half++)
        {
            for (ulong bits = Half(half); bits != 0; bits &= bits - 1)
            {
                int offset = ((half * LinesPerHalf) + BitOperations.TrailingZeroCount(bits)) * LineBytes;
                from.Slice(offset, LineBytes).CopyTo(to[offset..]);
            }
        }
    }

    /// <summary>Whether two byte ranges are equal in all lines outside the set. For assertions.</summary>
    public readonly bool CoversDifferences(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        Debug.Assert(left.Length == right.Length && left.Length <= CoveredBytes, "the lines of both are covered");
        for (int line = 0; line < left.Length / LineBytes; line++)
        {
            bool isIn = ((Half(line / LinesPerHalf) >> (line % LinesPerHalf)) & 1) != 0;
            if (!isIn && !left.Slice(line * LineBytes, LineBytes).SequenceEqual(right.Slice(line * LineBytes, LineBytes)))
                return false;
        }

        return true;
    }

    private static ulong Bits(int first, int last) => (ulong.MaxValue >> (LinesPerHalf - 1 - last)) & (ulong.MaxValue << first);
}

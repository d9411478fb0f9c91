using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Finds, in all entries of a window at once, where one word follows another at a given distance. Positions are given as
/// stored, one byte each: the first position, then distances. The vector form has a scalar twin.
/// </summary>
internal static class PairKernels
{
    /// <summary>Readable bytes after the last position.</summary>
    public const int Room = sizeof(ulong);

    /// <summary>
    /// Number of starts of a window: those of all entries, and those read for entries that a damaged list lacks.
    /// </summary>
    public const int StartsLength = ((BitmapKernels.Words + 1) * 64) + 2;

    /// <summary>Most positions of the first word for the vector comparison.</summary>
    private const int MostFirst = 4;

    /// <summary>Most positions of the second word for the vector comparison.</summary>
    private const int MostSecond = 8;

    /// <summary>For each number of positions of the first word, the mask of the comparisons that are valid.</summary>
    private static ReadOnlySpan<uint> FirstPlaces => [0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF];

    /// <summary>For each number of positions of the second word, the mask of the comparisons that are valid.</summary>
    private static ReadOnlySpan<uint> SecondPlaces =>
        [0, 0x01010101, 0x03030303, 0x07070707, 0x0F0F0F0F, 0x1F1F1F1F, 0x3F3F3F3F, 0x7F7F7F7F, 0xFFFFFFFF];

    /// <summary>
    /// Finds the entries in which a position of <paramref name="second"/> equals one of <paramref name="first"/> plus
    /// <paramref name="apart"/>, and counts these pairs. Pass the word with fewer positions first.
    /// </summary>
    /// <param name="entries">The entries to search, which have both words; only those found are kept.</param>
    /// <param name="first">The positions of the first word.</param>
    /// <param name="second">The positions of the second word.</param>
    /// <param name="apart">How far the second word is after the first; negative if before.</param>
    /// <param name="frequencies">Receives the number of pairs for the entries found.</param>
    public static void Find(Span<ulong> entries, in WordPlaces first, in WordPlaces second, int apart, Span<float> frequencies)
    {
        Debug.Assert(
            entries.Length == BitmapKernels.Words && frequencies.Length >= BitmapKernels.Words * 64,
            "each entry of the window gets a frequency");
        if (!Avx2.IsSupported || !Bmi2.X64.IsSupported)
        {
            FindScalar(entries, first, second, apart, frequencies);
            return;
        }

        // No rank exceeds the starts, even for an entry that a damaged list lacks, and no start exceeds the bytes, so
        // nothing is checked below.
        ArgumentOutOfRangeException.ThrowIfLessThan(Math.Min(first.Starts.Length, second.Starts.Length), StartsLength);
        ArgumentOutOfRangeException.ThrowIfLessThan(Math.Min(first.Bytes.Length, second.Bytes.Length), Room);
        ref ushort firstStarts = ref MemoryMarshal.GetReference(first.Starts),
            secondStarts = ref MemoryMarshal.GetReference(second.Starts);
        ref byte firstBytes = ref MemoryMarshal.GetReference(first.Bytes),
            secondBytes = ref MemoryMarshal.GetReference(second.Bytes);
        ref uint firstValid = ref MemoryMarshal.GetReference(FirstPlaces),
            secondValid = ref MemoryMarshal.GetReference(SecondPlaces);
        int mostFirst = first.Bytes.Length - Room, mostSecond = second.Bytes.Length - Room;
        Vector256<byte> spread = Vector256.Create(
            (byte)0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
        Vector256<byte> repeat = Vector256.Create(0x0F0E0D0C0B0A0908UL).AsByte(), distance = Vector256.Create((byte)apart);
        int firstRank = 0, secondRank = 0;
        for (int word = 0; word < BitmapKernels.Words; word++)
        {
            ulong asked = entries[word], ofFirst = first.Words[word], ofSecond = second.Words[word], found = 0;
            ulong firstLeft = Bmi2.X64.ParallelBitExtract(asked, ofFirst),
                secondLeft = Bmi2.X64.ParallelBitExtract(asked, ofSecond);
            while (asked != 0)
            {
                int entry = BitOperations.TrailingZeroCount(asked);
                int firstPlace = firstRank + BitOperations.TrailingZeroCount(firstLeft),
                    secondPlace = secondRank + BitOperations.TrailingZeroCount(secondLeft);
                (asked, firstLeft, secondLeft) =
                    (asked & (asked - 1), firstLeft & (firstLeft - 1), secondLeft & (secondLeft - 1));
                int firstStart = Unsafe.Add(ref firstStarts, firstPlace),
                    firstCount = Unsafe.Add(ref firstStarts, firstPlace + 1) - firstStart;
                int secondStart = Unsafe.Add(ref secondStarts, secondPlace),
                    secondCount = Unsafe.Add(ref secondStarts, secondPlace + 1) - secondStart;
                if (firstCount <= MostFirst && secondCount <= MostSecond)
                {
                    // Prefix sums of distances are the positions modulo 256. Each of four is compared with each of eight.
                    Vector128<byte> places = Vector128.Create(
                        Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref firstBytes, Math.Min(firstStart, mostFirst))),
                        Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref secondBytes, Math.Min(secondStart, mostSecond)))).AsByte();
                    places += (places.AsUInt64() << 8).AsByte();
                    places += (places.AsUInt64() << 16).AsByte();
                    places += (places.AsUInt64() << 32).AsByte();
                    Vector256<byte> both = Vector256.Create(places, places);
                    uint equal = Vector256.Equals(Avx2.Shuffle(both, spread) + distance, Avx2.Shuffle(both, repeat))
                        .ExtractMostSignificantBits();
                    if ((equal & Unsafe.Add(ref firstValid, Math.Max(0, firstCount))
                        & Unsafe.Add(ref secondValid, Math.Max(0, secondCount))) == 0)
                        continue;
                }

                int count = Count(first.Bytes.Slice(firstStart, firstCount), second.Bytes.Slice(secondStart, secondCount), apart);
                if (count == 0)
                    continue;
                found |= 1UL << entry;
                frequencies[(word << 6) + entry] = count;
            }

            entries[word] = found;
            firstRank += BitOperations.PopCount(ofFirst);
            secondRank += BitOperations.PopCount(ofSecond);
        }
    }

    /// <summary>The scalar twin of <see cref="Find"/>.</summary>
    public static void FindScalar(
        Span<ulong> entries, in WordPlaces first, in WordPlaces second, int apart, Span<float> frequencies)
    {
        Debug.Assert(
            entries.Length == BitmapKernels.Words && frequencies.Length >= BitmapKernels.Words * 64,
            "each entry of the window gets a frequency");
        int firstRank = 0, secondRank = 0;
        for (int word = 0; word < BitmapKernels.Words; word++)
        {
            ulong ofFirst = first.Words[word], ofSecond = second.Words[word], found = 0;
            for (ulong asked = entries[word]; asked != 0; asked &= asked - 1)
            {
                ulong bit = asked & (~asked + 1);
                int firstPlace = firstRank + BitOperations.PopCount(ofFirst & (bit - 1)),
                    secondPlace = secondRank + BitOperations.PopCount(ofSecond & (bit - 1));
                int count = Count(
                    first.Bytes[first.Starts[firstPlace]..first.Starts[firstPlace + 1]],
                    second.Bytes[second.Starts[secondPlace]..second.Starts[secondPlace + 1]], apart);
                if (count == 0)
                    continue;
                found |= bit;
                frequencies[(word << 6) + BitOperations.TrailingZeroCount(asked)] = count;
            }

            entries[word] = found;
            firstRank += BitOperations.PopCount(ofFirst);
            secondRank += BitOperations.PopCount(ofSecond);
        }
    }

    /// <summary>
    /// Number of positions of the first word that the second follows at the distance. Several words at one position count
    /// once.
    /// </summary>
    private static int Count(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, int apart)
    {
        int found = 0, last = -1;
        for (int i = 0, j = 0, left = first[0], right = second[0]; ;)
        {
            if (right < left + apart)
            {
                if (++j == second.Length)
                    return found;
                right += second[j];
                continue;
            }

            found += right == left + apart && left != last ? 1 : 0;
            last = left;
            if (++i == first.Length)
                return found;
            left += first[i];
        }
    }
}

/// <summary>The positions of a word in all entries of a window that contain it.</summary>
/// <param name="words">The entries, as 64 words of a bitmap.</param>
/// <param name="starts">For each rank of an entry, the start of its positions; has <see cref="PairKernels.StartsLength"/>
/// elements.</param>
/// <param name="bytes">The positions, followed by <see cref="PairKernels.Room"/> readable bytes.</param>
internal readonly ref struct WordPlaces(ReadOnlySpan<ulong> words, ReadOnlySpan<ushort> starts, ReadOnlySpan<byte> bytes)
{
    public readonly ReadOnlySpan<ulong> Words = words;
    public readonly ReadOnlySpan<ushort> Starts = starts;
    public readonly ReadOnlySpan<byte> Bytes = bytes;
}

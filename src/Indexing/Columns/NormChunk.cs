using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using Treepie.Storage;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Lengths (in terms) of a full-text field for the 4,096 entries of each of seven windows, read in place: four nearly full pages
/// that are read from disk together. Scoring entries of one window takes a single lookup of their lengths. Key in the tree:
/// number of the chunk, 8 bytes big-endian.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       7     per window: w, bytes of a length: 1, 2 or 4; 0 if no entry of the window has a length
/// 7       1     0
/// 8             per window: lengths of its 4,096 entries, w bytes each; the last window with lengths ends with the last of them,
///               entries after it have none (0)
/// </code>
/// </summary>
internal readonly ref struct NormChunk
{
    public const int WindowBits = 12;
    public const int WindowEntries = 1 << WindowBits;

    /// <summary>Windows per chunk. With eight, a fifth of its pages would be empty.</summary>
    public const int Windows = 7;

    /// <summary>Entries per chunk.</summary>
    public const int Entries = Windows * WindowEntries;

    /// <summary>Length of the longest encoding in bytes.</summary>
    public const int MaxBytes = HeadBytes + (Entries * sizeof(int));

    private const int HeadBytes = sizeof(ulong);

    /// <summary>Multiplying eight bytes by this puts their sum into the highest byte.</summary>
    private const ulong EveryByte = 0x0101_0101_0101_0101;

    private readonly ReadOnlySpan<byte> _lengths;
    private readonly int _width;

    /// <summary>The lengths of one window.</summary>
    /// <param name="bytes">The chunk; empty if it does not exist.</param>
    /// <param name="window">The window, counted over all chunks.</param>
    public NormChunk(ReadOnlySpan<byte> bytes, long window)
    {
        if (bytes.Length < HeadBytes)
            return;

        int place = (int)(window % Windows);
        ulong widths = BinaryPrimitives.ReadUInt64LittleEndian(bytes);
        _width = (byte)(widths >> (8 * place));
        int before = (int)(((widths & ((1UL << (8 * place)) - 1)) * EveryByte) >> 56);
        ReadOnlySpan<byte> rest = bytes[Math.Min(HeadBytes + (before << WindowBits), bytes.Length)..];
        _lengths = rest[..Math.Min(rest.Length, _width << WindowBits)];
    }

    /// <summary>The number of the window of an entry.</summary>
    public static long WindowOf(long id) => id >> WindowBits;

    /// <summary>The number of the chunk that contains a window.</summary>
    public static long NumberOf(long window) => window / Windows;

    /// <summary>The index of an entry in its window.</summary>
    public static int SlotOf(long id) => (int)id & (WindowEntries - 1);

    /// <summary>Number of lengths stored.</summary>
    public int Count => _width == 0 ? 0 : _lengths.Length / _width;

    /// <summary>
    /// The length of an entry; 0 if none is stored. Nearly all lengths are bytes, which take one memory access.
    /// </summary>
    public int this[int slot]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _width == 1 && (uint)slot < (uint)_lengths.Length ? _lengths[slot] : Other(slot);
    }

    /// <summary>The lengths as bytes; empty if they are wider.</summary>
    public ReadOnlySpan<byte> Bytes => _width == 1 ? _lengths : default;

    /// <summary>
    /// The lengths of the first windows of a chunk, which may be empty, as consecutive bytes, up to the first window whose
    /// lengths do not take one byte each; nearly always all windows.
    /// </summary>
    public static ReadOnlySpan<byte> Plain(ReadOnlySpan<byte> chunk)
    {
        if (chunk.Length < HeadBytes)
            return default;
        // The last byte of the header is 0, which bounds the number of windows.
        int windows = BitOperations.TrailingZeroCount(BinaryPrimitives.ReadUInt64LittleEndian(chunk) ^ EveryByte) >> 3;
        return chunk.Slice(HeadBytes, Math.Min(windows << WindowBits, chunk.Length - HeadBytes));
    }

    /// <summary>Encodes the lengths of a chunk; returns the bytes written, or 0 if there are no lengths.</summary>
    /// <param name="lengths">All <see cref="Entries"/> lengths.</param>
    /// <param name="output">At least <see cref="MaxBytes"/>.</param>
    public static int Encode(ReadOnlySpan<int> lengths, Span<byte> output)
    {
        Debug.Assert(lengths.Length == Entries, "a chunk has a length for each entry");
        output[..HeadBytes].Clear();
        int count = lengths.LastIndexOfAnyExcept(0) + 1;
        int end = 0;
        for (int place = 0; place << WindowBits < count; place++)
        {
            ReadOnlySpan<int> mine = lengths[(place << WindowBits)..Math.Min(count, (place + 1) << WindowBits)];
            int width = !mine.ContainsAnyExcept(0) ? 0
                : !mine.ContainsAnyExceptInRange(0, byte.MaxValue) ? 1
                : !mine.ContainsAnyExceptInRange(0, ushort.MaxValue) ? 2 : 4;
            Debug.Assert(!mine.ContainsAnyInRange(int.MinValue, -1), "a length is not negative");
            output[place] = (byte)width;
            end = Math.Max(end, HeadBytes);
            end += Write(mine, width, output[end..]);
        }

        return end;
    }

    private int Other(int slot)
    {
        if (slot >= Count)
            return 0;

        return _width switch
        {
            2 => BinaryPrimitives.ReadUInt16LittleEndian(_lengths[(2 * slot)..]),
            4 => BinaryPrimitives.ReadInt32LittleEndian(_lengths[(4 * slot)..]),
            _ => throw new CorruptionException("A chunk of lengths in the index is damaged. Reset the index to build it again."),
        };
    }

    private static int Write(ReadOnlySpan<int> lengths, int width, Span<byte> output)
    {
        output = output[..(lengths.Length * width)];
        for (int i = 0; i < lengths.Length; i++)
        {
            switch (width)
            {
                case 0: break;
                case 1: output[i] = (byte)lengths[i]; break;
                case 2: BinaryPrimitives.WriteUInt16LittleEndian(output[(2 * i)..], (ushort)lengths[i]); break;
                default: BinaryPrimitives.WriteInt32LittleEndian(output[(4 * i)..], lengths[i]); break;
            }
        }

        return output.Length;
    }
}

using System.Buffers.Binary;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Lengths (in terms) of a full-text field for the 4,096 entries of a window, read in place. Key in the tree: number of the window, 8 bytes big-endian. A whole chunk has a page of its
/// own: what scores some entries of a window looks once for their lengths.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       1     w, bytes of a length: 1, 2 or 4
/// 1       w·n   lengths; entries behind the last have none (0)
/// </code>
/// </summary>
internal readonly ref struct NormChunk
{
    public const int EntryBits = 12;
    public const int Entries = 1 << EntryBits;

    private readonly ReadOnlySpan<byte> lengths;
    private readonly int width;

    public NormChunk(ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty)
            return;
        width = bytes[0];
        lengths = bytes[1..];
    }

    public int Count => width == 0 ? 0 : lengths.Length / width;

    public int this[int slot]
    {
        get
        {
            if (slot >= Count)
                return 0;

            return width switch
            {
                1 => lengths[slot],
                2 => BinaryPrimitives.ReadUInt16LittleEndian(lengths[(2 * slot)..]),
                _ => BinaryPrimitives.ReadInt32LittleEndian(lengths[(4 * slot)..]),
            };
        }
    }

    /// <summary>The lengths as bytes, where they are kept as such; empty where they are longer.</summary>
    public ReadOnlySpan<byte> Bytes => width == 1 ? lengths : default;

    /// <summary>Longest encoding.</summary>
    public const int MaxBytes = 1 + (Entries * sizeof(int));

    /// <summary>Encodes lengths, the last of which is not 0; returns the bytes written.</summary>
    public static int Encode(ReadOnlySpan<int> lengths, Span<byte> output)
    {
        int largest = 0;
        foreach (int length in lengths)
            largest = Math.Max(largest, length);
        int width = largest <= byte.MaxValue ? 1 : largest <= ushort.MaxValue ? 2 : 4;
        int place = 0;
        output[place++] = (byte)width;
        foreach (int length in lengths)
        {
            switch (width)
            {
                case 1: output[place] = (byte)length; break;
                case 2: BinaryPrimitives.WriteUInt16LittleEndian(output[place..], (ushort)length); break;
                default: BinaryPrimitives.WriteInt32LittleEndian(output[place..], length); break;
            }

            place += width;
        }

        return place;
    }
}

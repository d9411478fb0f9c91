using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Vectors;

/// <summary>
/// A quantised vector as the graph compares it, one byte or bit per number, read in place. Key in the tree <c>vectors.N</c>: the
/// node. For the cosine metric the vector is normalised to length 1.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       8     entry id, little-endian
/// 8       4     scale: the value of a byte of 1, a float, little-endian
/// 12      4     sum of the squares of the stored vector, a float, little-endian
/// 16      n     the numbers, −127 to 127
/// </code>
/// For the Hamming metric:
/// <code>
/// 8       4     number of dimensions d, little-endian
/// 12      4     0
/// 16      d/8   the signs, rounded up to whole bytes: bit i of byte j is 1 if number 8j + i is 0 or more; the rest is 0
/// </code>
/// </summary>
internal readonly ref struct VectorNode(ReadOnlySpan<byte> bytes)
{
    public const int HeadBytes = 16;

    private readonly ReadOnlySpan<byte> _bytes = bytes;

    public long EntryId => BinaryPrimitives.ReadInt64LittleEndian(_bytes);

    public float Scale => BinaryPrimitives.ReadSingleLittleEndian(_bytes[8..]);

    public float SquaredLength => BinaryPrimitives.ReadSingleLittleEndian(_bytes[12..]);

    private ReadOnlySpan<byte> Signs => _bytes[HeadBytes..];

    public ReadOnlySpan<sbyte> Numbers => MemoryMarshal.Cast<byte, sbyte>(_bytes[HeadBytes..]);

    /// <summary>Length in bytes of a node.</summary>
    public static int BytesOf(int dimensions, VectorMetric metric) =>
        HeadBytes + (metric == VectorMetric.Hamming ? (dimensions + 7) / 8 : dimensions);

    /// <summary>Encodes a valid vector as a node.</summary>
    public static byte[] Encode(long entryId, ReadOnlySpan<float> vector, VectorMetric metric)
    {
        if (metric == VectorMetric.Hamming)
            return EncodeSigns(entryId, vector);
        double squares = 0;
        float largest = 0;
        foreach (float number in vector)
        {
            squares += (double)number * number;
            largest = Math.Max(largest, Math.Abs(number));
        }

        double length = metric == VectorMetric.Cosine ? Math.Sqrt(squares) : 1;
        double unit = largest / 127.0;
        byte[] bytes = new byte[BytesOf(vector.Length, metric)];
        Span<sbyte> numbers = MemoryMarshal.Cast<byte, sbyte>(bytes.AsSpan(HeadBytes));
        for (int i = 0; i < vector.Length && unit > 0; i++)
            numbers[i] = (sbyte)Math.Clamp(Math.Round(vector[i] / unit), -127, 127);

        float scale = length > 0 ? (float)(unit / length) : 0;
        BinaryPrimitives.WriteInt64LittleEndian(bytes, entryId);
        BinaryPrimitives.WriteSingleLittleEndian(bytes.AsSpan(8), scale);
        BinaryPrimitives.WriteSingleLittleEndian(
            bytes.AsSpan(12), (float)((double)scale * scale * VectorKernels.Dot(numbers, numbers)));
        return bytes;
    }

    private static byte[] EncodeSigns(long entryId, ReadOnlySpan<float> vector)
    {
        byte[] bytes = new byte[BytesOf(vector.Length, VectorMetric.Hamming)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, entryId);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(8), vector.Length);
        for (int i = 0; i < vector.Length; i++)
            if (vector[i] >= 0)
                bytes[HeadBytes + (i / 8)] |= (byte)(1 << (i % 8));
        return bytes;
    }

    /// <summary>The distance of two nodes; less is nearer.</summary>
    public static float Distance(VectorNode left, VectorNode right, VectorMetric metric)
    {
        ReadOnlySpan<sbyte> mine = left.Numbers, others = right.Numbers;
        Debug.Assert(mine.Length == others.Length, "the graph has checked the length of both nodes");
        if (metric == VectorMetric.Hamming)
            return Differing(left.Signs, right.Signs);
        float product = left.Scale * right.Scale * VectorKernels.Dot(mine, others);
        return metric switch
        {
            VectorMetric.Cosine => 1 - product,
            VectorMetric.Dot => -product,
            _ => left.SquaredLength + right.SquaredLength - (2 * product),
        };
    }

    /// <summary>The number of different bits of two texts of equal length.</summary>
    private static int Differing(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right)
    {
        ReadOnlySpan<ulong> mine = MemoryMarshal.Cast<byte, ulong>(left), others = MemoryMarshal.Cast<byte, ulong>(right);
        int differing = 0;
        for (int i = 0; i < mine.Length; i++)
            differing += BitOperations.PopCount(mine[i] ^ others[i]);
        for (int i = mine.Length * sizeof(ulong); i < left.Length; i++)
            differing += BitOperations.PopCount((uint)(left[i] ^ right[i]));
        return differing;
    }

    /// <summary>Returns whether another node has the same vector.</summary>
    public bool HasVectorOf(VectorNode other) => _bytes[sizeof(long)..].SequenceEqual(other._bytes[sizeof(long)..]);

    /// <summary>Writes the decoded numbers; of signs, 1 and −1.</summary>
    public void CopyTo(Span<float> output, VectorMetric metric)
    {
        if (metric == VectorMetric.Hamming)
        {
            ReadOnlySpan<byte> signs = Signs;
            for (int i = 0; i < output.Length; i++)
                output[i] = (signs[i / 8] >> (i % 8) & 1) == 0 ? -1 : 1;
            return;
        }

        float scale = Scale;
        ReadOnlySpan<sbyte> numbers = Numbers;
        for (int i = 0; i < numbers.Length; i++)
            output[i] = scale * numbers[i];
    }
}

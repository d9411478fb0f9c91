using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Kernels;

/// <summary>
/// The compression function of BLAKE3 (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, <i>BLAKE3: one function, fast
/// everywhere</i>, 2020), for one block and for as many inputs of equal length as a vector has lanes. Each lane holds one
/// input, so rounds need no moves between lanes, and only the message is transposed when it is read.
/// </summary>
internal static unsafe partial class Blake3Kernel
{
    public const int BlockBytes = 64;
    public const int ChunkBytes = 1024;

    /// <summary>The number of words of a chaining value, the result for each input.</summary>
    public const int ValueWords = 8;

    /// <summary>Flags: first and last block of a chunk, a parent node, and the final compression that gives the hash.</summary>
    public const uint ChunkStart = 1, ChunkEnd = 2, Parent = 4, Root = 8;

    /// <summary>The number of words of a block.</summary>
    public const int Words = 16;

    private const int Rounds = 7;

    /// <summary>The initial chaining value of the unkeyed hash, the same as that of SHA-256.</summary>
    public static ReadOnlySpan<uint> Start =>
        [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19];

    /// <summary>The message words of each round, in the order of use.</summary>
    private static ReadOnlySpan<byte> Schedule =>
    [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8,
        3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1,
        10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6,
        12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4,
        9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7,
        11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13,
    ];

    /// <summary>Computes the chaining values of consecutive whole chunks.</summary>
    /// <param name="chunks">The chunks; a multiple of <see cref="ChunkBytes"/>.</param>
    /// <param name="counter">The number of the first chunk in its stream.</param>
    /// <param name="values">Receives eight words for each chunk.</param>
    public static void HashChunks(ReadOnlySpan<byte> chunks, ulong counter, Span<uint> values)
    {
        int count = chunks.Length / ChunkBytes, done = Vectorized(chunks, count, ChunkBytes, counter, values);
        HashChunksScalar(chunks[(done * ChunkBytes)..], counter + (ulong)done, values[(done * ValueWords)..]);
    }

    /// <summary>The scalar version, used as the reference in tests.</summary>
    public static void HashChunksScalar(ReadOnlySpan<byte> chunks, ulong counter, Span<uint> values)
    {
        for (; chunks.Length >= ChunkBytes; chunks = chunks[ChunkBytes..], values = values[ValueWords..], counter++)
            HashChunk(chunks[..ChunkBytes], counter, 0, values);
    }

    /// <summary>
    /// Computes the chaining values of parents of two adjacent children each. The output may overwrite the input.
    /// </summary>
    public static void HashParents(ReadOnlySpan<uint> children, Span<uint> values)
    {
        ReadOnlySpan<byte> blocks = MemoryMarshal.AsBytes(children);
        int count = blocks.Length / BlockBytes, done = Vectorized(blocks, count, BlockBytes, 0, values);
        for (; done < count; done++)
            HashParent(children.Slice(2 * done * ValueWords, 2 * ValueWords), 0, values.Slice(done * ValueWords, ValueWords));
    }

    /// <summary>Computes the chaining value of a whole or partial chunk.</summary>
    /// <param name="chunk">The bytes; empty only if it is the only chunk.</param>
    /// <param name="counter">The number of the chunk in the stream.</param>
    /// <param name="flags"><see cref="Root"/> if it is the only chunk, otherwise 0.</param>
    /// <param name="value">Receives eight words.</param>
    public static void HashChunk(ReadOnlySpan<byte> chunk, ulong counter, uint flags, Span<uint> value)
    {
        Start.CopyTo(value);
        Span<byte> padded = stackalloc byte[BlockBytes];
        uint start = ChunkStart;
        for (; chunk.Length > BlockBytes; chunk = chunk[BlockBytes..], start = 0)
            Compress(value, chunk[..BlockBytes], counter, BlockBytes, start);
        padded.Clear();
        chunk.CopyTo(padded);
        Compress(value, padded, counter, (uint)chunk.Length, start | ChunkEnd | flags);
    }

    /// <summary>Computes the chaining value of a parent. It may overwrite one of its children.</summary>
    public static void HashParent(ReadOnlySpan<uint> children, uint flags, Span<uint> value)
    {
        Span<uint> own = stackalloc uint[ValueWords];
        Start.CopyTo(own);
        Compress(own, MemoryMarshal.AsBytes(children), 0, BlockBytes, Parent | flags);
        own.CopyTo(value);
    }

    /// <summary>
    /// Hashes as many inputs as fill whole vectors. Returns their number. The counter increases for chunks but not for
    /// parents.
    /// </summary>
    private static int Vectorized(ReadOnlySpan<byte> inputs, int count, int inputBytes, ulong counter, Span<uint> values)
    {
        ulong counts = inputBytes == ChunkBytes ? 1UL : 0;
        int done = 0;
        fixed (byte* first = inputs)
        {
            if (Blake3Avx512.IsSupported)
                for (; count - done >= 16; done += 16)
                    Hash<Blake3Avx512, Vector512<uint>>(
                        first + (done * inputBytes), inputBytes, counter + (counts * (ulong)done),
                        values.Slice(done * ValueWords, 16 * ValueWords));
            if (Blake3Avx2.IsSupported)
                for (; count - done >= 8; done += 8)
                    Hash<Blake3Avx2, Vector256<uint>>(
                        first + (done * inputBytes), inputBytes, counter + (counts * (ulong)done),
                        values.Slice(done * ValueWords, 8 * ValueWords));
            if (Blake3Vector128.IsSupported)
                for (; count - done >= 4; done += 4)
                    Hash<Blake3Vector128, Vector128<uint>>(
                        first + (done * inputBytes), inputBytes, counter + (counts * (ulong)done),
                        values.Slice(done * ValueWords, 4 * ValueWords));
        }

        return done;
    }

    /// <summary>Compresses one block into a chaining value.</summary>
    private static void Compress(Span<uint> value, ReadOnlySpan<byte> block, ulong counter, uint length, uint flags)
    {
        Span<uint> m = stackalloc uint[Words];
        for (int i = 0; i < m.Length; i++)
            m[i] = BinaryPrimitives.ReadUInt32LittleEndian(block[(i * sizeof(uint))..]);
        uint s0 = value[0],
            s1 = value[1],
            s2 = value[2],
            s3 = value[3],
            s4 = value[4],
            s5 = value[5],
            s6 = value[6],
            s7 = value[7];
        uint s8 = Start[0],
            s9 = Start[1],
            s10 = Start[2],
            s11 = Start[3],
            s12 = (uint)counter,
            s13 = (uint)(counter >> 32),
            s14 = length,
            s15 = flags;
        for (ReadOnlySpan<byte> s = Schedule; !s.IsEmpty; s = s[Words..])
        {
            Mix(ref s0, ref s4, ref s8, ref s12, m[s[0]], m[s[1]]);
            Mix(ref s1, ref s5, ref s9, ref s13, m[s[2]], m[s[3]]);
            Mix(ref s2, ref s6, ref s10, ref s14, m[s[4]], m[s[5]]);
            Mix(ref s3, ref s7, ref s11, ref s15, m[s[6]], m[s[7]]);
            Mix(ref s0, ref s5, ref s10, ref s15, m[s[8]], m[s[9]]);
            Mix(ref s1, ref s6, ref s11, ref s12, m[s[10]], m[s[11]]);
            Mix(ref s2, ref s7, ref s8, ref s13, m[s[12]], m[s[13]]);
            Mix(ref s3, ref s4, ref s9, ref s14, m[s[14]], m[s[15]]);
        }

        (value[0], value[1], value[2], value[3]) = (s0 ^ s8, s1 ^ s9, s2 ^ s10, s3 ^ s11);
        (value[4], value[5], value[6], value[7]) = (s4 ^ s12, s5 ^ s13, s6 ^ s14, s7 ^ s15);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Mix(ref uint a, ref uint b, ref uint c, ref uint d, uint x, uint y)
    {
        a += b + x;
        d = BitOperations.RotateRight(d ^ a, 16);
        c += d;
        b = BitOperations.RotateRight(b ^ c, 12);
        a += b + y;
        d = BitOperations.RotateRight(d ^ a, 8);
        c += d;
        b = BitOperations.RotateRight(b ^ c, 7);
    }
}

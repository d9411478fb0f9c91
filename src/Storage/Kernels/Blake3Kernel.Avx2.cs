using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Kernels;

/// <content>Eight inputs at once, a lane each.</content>
internal static unsafe partial class Blake3Kernel
{
    private static bool Has8 => Avx2.IsSupported;

    [SkipLocalsInit]
    private static void Hash8(byte* inputs, int inputBytes, ulong counter, Span<uint> values)
    {
        // Vectors that lie across two lines of the cache are read twice: they are aligned here, the message first.
        byte* room = stackalloc byte[((2 * Words) + ValueWords + 1) * 32];
        var message = (Vector256<uint>*)(((nuint)room + 32 - 1) & ~((nuint)32 - 1));
        Vector256<uint>* scratch = message + Words, value = scratch + Words;
        bool areChunks = inputBytes == ChunkBytes;
        for (int i = 0; i < ValueWords; i++)
            value[i] = Vector256.Create(Start[i]);
        Vector256<uint> low = Vector256.Create((uint)counter), high = Vector256.Create((uint)(counter >> 32));
        if (areChunks)
        {
            low += Vector256<uint>.Indices;
            high -= Vector256.LessThan(low, Vector256<uint>.Indices); // a lane whose low half ran over is all ones there
        }

        for (int offset = 0; offset < inputBytes; offset += BlockBytes)
        {
            Transpose(inputs + offset, inputBytes, message, scratch);
            uint flags = !areChunks ? Parent : (offset == 0 ? ChunkStart : 0) | (offset == ChunkBytes - BlockBytes ? ChunkEnd : 0);
            Compress(value, message, low, high, Vector256.Create(flags));
        }

        uint* words = (uint*)value;
        for (int lane = 0; lane < Vector256<uint>.Count; lane++)
            for (int word = 0; word < ValueWords; word++)
                values[(lane * ValueWords) + word] = words[(word * Vector256<uint>.Count) + lane];
    }

    /// <summary>Reads a block of each input; word i of all of them becomes vector i.</summary>
    private static void Transpose(byte* inputs, int inputBytes, Vector256<uint>* message, Vector256<uint>* halves)
    {
        for (int half = 0; half < Words; half += Vector256<uint>.Count)
        {
            for (int row = 0; row < Vector256<uint>.Count; row += 4)
            {
                byte* input = inputs + (row * inputBytes) + (half * sizeof(uint));
                Vector256<uint> a = Vector256.Load(input).AsUInt32(), b = Vector256.Load(input + inputBytes).AsUInt32();
                Vector256<uint> c = Vector256.Load(input + (2 * inputBytes)).AsUInt32(), d = Vector256.Load(input + (3 * inputBytes)).AsUInt32();
                Vector256<ulong> ab = Avx2.UnpackLow(a, b).AsUInt64(), cd = Avx2.UnpackLow(c, d).AsUInt64();
                Vector256<ulong> abHigh = Avx2.UnpackHigh(a, b).AsUInt64(), cdHigh = Avx2.UnpackHigh(c, d).AsUInt64();
                halves[row] = Avx2.UnpackLow(ab, cd).AsUInt32();
                halves[row + 1] = Avx2.UnpackHigh(ab, cd).AsUInt32();
                halves[row + 2] = Avx2.UnpackLow(abHigh, cdHigh).AsUInt32();
                halves[row + 3] = Avx2.UnpackHigh(abHigh, cdHigh).AsUInt32();
            }

            // Each has, in its 128 bits number q, word 4q + i of four inputs: these are brought together.
            for (int i = 0; i < 4; i++)
            {
                message[half + i] = Avx2.Permute2x128(halves[i], halves[4 + i], 0x20);
                message[half + 4 + i] = Avx2.Permute2x128(halves[i], halves[4 + i], 0x31);
            }
        }
    }

    private static void Compress(Vector256<uint>* value, Vector256<uint>* m, Vector256<uint> low, Vector256<uint> high, Vector256<uint> flags)
    {
        Vector256<uint> s0 = value[0], s1 = value[1], s2 = value[2], s3 = value[3], s4 = value[4], s5 = value[5], s6 = value[6], s7 = value[7];
        Vector256<uint> s8 = Vector256.Create(Start[0]), s9 = Vector256.Create(Start[1]), s10 = Vector256.Create(Start[2]), s11 = Vector256.Create(Start[3]);
        Vector256<uint> s12 = low, s13 = high, s14 = Vector256.Create((uint)BlockBytes), s15 = flags;
        for (int round = 0; round < Rounds * Words; round += Words)
        {
            ReadOnlySpan<byte> s = Schedule.Slice(round, Words);
            Mix(ref s0, ref s4, ref s8, ref s12, ref s1, ref s5, ref s9, ref s13, ref s2, ref s6, ref s10, ref s14, ref s3, ref s7, ref s11, ref s15, m[s[0]], m[s[2]], m[s[4]], m[s[6]], 16, 12);
            Mix(ref s0, ref s4, ref s8, ref s12, ref s1, ref s5, ref s9, ref s13, ref s2, ref s6, ref s10, ref s14, ref s3, ref s7, ref s11, ref s15, m[s[1]], m[s[3]], m[s[5]], m[s[7]], 8, 7);
            Mix(ref s0, ref s5, ref s10, ref s15, ref s1, ref s6, ref s11, ref s12, ref s2, ref s7, ref s8, ref s13, ref s3, ref s4, ref s9, ref s14, m[s[8]], m[s[10]], m[s[12]], m[s[14]], 16, 12);
            Mix(ref s0, ref s5, ref s10, ref s15, ref s1, ref s6, ref s11, ref s12, ref s2, ref s7, ref s8, ref s13, ref s3, ref s4, ref s9, ref s14, m[s[9]], m[s[11]], m[s[13]], m[s[15]], 8, 7);
        }

        (value[0], value[1], value[2], value[3]) = (s0 ^ s8, s1 ^ s9, s2 ^ s10, s3 ^ s11);
        (value[4], value[5], value[6], value[7]) = (s4 ^ s12, s5 ^ s13, s6 ^ s14, s7 ^ s15);
    }

    /// <summary>Half of the mixing of four columns, step by step side by side: each step waits for the one before it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Mix(
        ref Vector256<uint> a0, ref Vector256<uint> b0, ref Vector256<uint> c0, ref Vector256<uint> d0,
        ref Vector256<uint> a1, ref Vector256<uint> b1, ref Vector256<uint> c1, ref Vector256<uint> d1,
        ref Vector256<uint> a2, ref Vector256<uint> b2, ref Vector256<uint> c2, ref Vector256<uint> d2,
        ref Vector256<uint> a3, ref Vector256<uint> b3, ref Vector256<uint> c3, ref Vector256<uint> d3,
        Vector256<uint> x0, Vector256<uint> x1, Vector256<uint> x2, Vector256<uint> x3,
        [ConstantExpected] byte first,
        [ConstantExpected] byte second)
    {
        a0 = a0 + b0 + x0;
        a1 = a1 + b1 + x1;
        a2 = a2 + b2 + x2;
        a3 = a3 + b3 + x3;
        d0 = Rotate(d0 ^ a0, first);
        d1 = Rotate(d1 ^ a1, first);
        d2 = Rotate(d2 ^ a2, first);
        d3 = Rotate(d3 ^ a3, first);
        c0 += d0;
        c1 += d1;
        c2 += d2;
        c3 += d3;
        b0 = Rotate(b0 ^ c0, second);
        b1 = Rotate(b1 ^ c1, second);
        b2 = Rotate(b2 ^ c2, second);
        b3 = Rotate(b3 ^ c3, second);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<uint> Rotate(Vector256<uint> lanes, [ConstantExpected] byte bits) =>
        Avx512F.VL.IsSupported ? Avx512F.VL.RotateRight(lanes, bits) : (lanes >>> bits) | (lanes << (32 - bits));
}

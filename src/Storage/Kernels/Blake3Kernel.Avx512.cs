using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Kernels;

/// <content>Sixteen inputs at once, a lane each.</content>
internal static unsafe partial class Blake3Kernel
{
    private static bool Has16 => Avx512F.IsSupported;

    [SkipLocalsInit]
    private static void Hash16(byte* inputs, int inputBytes, ulong counter, Span<uint> values)
    {
        // Vectors that lie across two lines of the cache are read twice: they are aligned here, the message first.
        byte* room = stackalloc byte[((2 * Words) + ValueWords + 1) * 64];
        var message = (Vector512<uint>*)(((nuint)room + 64 - 1) & ~((nuint)64 - 1));
        Vector512<uint>* scratch = message + Words, value = scratch + Words;
        bool areChunks = inputBytes == ChunkBytes;
        for (int i = 0; i < ValueWords; i++)
            value[i] = Vector512.Create(Start[i]);
        Vector512<uint> low = Vector512.Create((uint)counter), high = Vector512.Create((uint)(counter >> 32));
        if (areChunks)
        {
            low += Vector512<uint>.Indices;
            high -= Vector512.LessThan(low, Vector512<uint>.Indices); // a lane whose low half ran over is all ones there
        }

        for (int offset = 0; offset < inputBytes; offset += BlockBytes)
        {
            Transpose(inputs + offset, inputBytes, message, scratch);
            uint flags = !areChunks ? Parent : (offset == 0 ? ChunkStart : 0) | (offset == ChunkBytes - BlockBytes ? ChunkEnd : 0);
            Compress(value, message, low, high, Vector512.Create(flags));
        }

        uint* words = (uint*)value;
        for (int lane = 0; lane < Vector512<uint>.Count; lane++)
            for (int word = 0; word < ValueWords; word++)
                values[(lane * ValueWords) + word] = words[(word * Vector512<uint>.Count) + lane];
    }

    /// <summary>Reads a block of each input; word i of all of them becomes vector i.</summary>
    private static void Transpose(byte* inputs, int inputBytes, Vector512<uint>* message, Vector512<uint>* quarters)
    {
        for (int row = 0; row < Words; row += 4)
        {
            byte* input = inputs + (row * inputBytes);
            Vector512<uint> a = Vector512.Load(input).AsUInt32(), b = Vector512.Load(input + inputBytes).AsUInt32();
            Vector512<uint> c = Vector512.Load(input + (2 * inputBytes)).AsUInt32(), d = Vector512.Load(input + (3 * inputBytes)).AsUInt32();
            Vector512<ulong> ab = Avx512F.UnpackLow(a, b).AsUInt64(), cd = Avx512F.UnpackLow(c, d).AsUInt64();
            Vector512<ulong> abHigh = Avx512F.UnpackHigh(a, b).AsUInt64(), cdHigh = Avx512F.UnpackHigh(c, d).AsUInt64();
            quarters[row] = Avx512F.UnpackLow(ab, cd).AsUInt32();
            quarters[row + 1] = Avx512F.UnpackHigh(ab, cd).AsUInt32();
            quarters[row + 2] = Avx512F.UnpackLow(abHigh, cdHigh).AsUInt32();
            quarters[row + 3] = Avx512F.UnpackHigh(abHigh, cdHigh).AsUInt32();
        }

        // Each has, in its 128 bits number q, word 4q + i of four inputs: these are brought together.
        for (int i = 0; i < 4; i++)
        {
            Vector512<uint> even = Avx512F.Shuffle4x128(quarters[i], quarters[4 + i], 0x88), odd = Avx512F.Shuffle4x128(quarters[i], quarters[4 + i], 0xDD);
            Vector512<uint> evenHigh = Avx512F.Shuffle4x128(quarters[8 + i], quarters[12 + i], 0x88), oddHigh = Avx512F.Shuffle4x128(quarters[8 + i], quarters[12 + i], 0xDD);
            message[i] = Avx512F.Shuffle4x128(even, evenHigh, 0x88);
            message[4 + i] = Avx512F.Shuffle4x128(odd, oddHigh, 0x88);
            message[8 + i] = Avx512F.Shuffle4x128(even, evenHigh, 0xDD);
            message[12 + i] = Avx512F.Shuffle4x128(odd, oddHigh, 0xDD);
        }
    }

    private static void Compress(Vector512<uint>* value, Vector512<uint>* m, Vector512<uint> low, Vector512<uint> high, Vector512<uint> flags)
    {
        Vector512<uint> s0 = value[0], s1 = value[1], s2 = value[2], s3 = value[3], s4 = value[4], s5 = value[5], s6 = value[6], s7 = value[7];
        Vector512<uint> s8 = Vector512.Create(Start[0]), s9 = Vector512.Create(Start[1]), s10 = Vector512.Create(Start[2]), s11 = Vector512.Create(Start[3]);
        Vector512<uint> s12 = low, s13 = high, s14 = Vector512.Create((uint)BlockBytes), s15 = flags;
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
        ref Vector512<uint> a0, ref Vector512<uint> b0, ref Vector512<uint> c0, ref Vector512<uint> d0,
        ref Vector512<uint> a1, ref Vector512<uint> b1, ref Vector512<uint> c1, ref Vector512<uint> d1,
        ref Vector512<uint> a2, ref Vector512<uint> b2, ref Vector512<uint> c2, ref Vector512<uint> d2,
        ref Vector512<uint> a3, ref Vector512<uint> b3, ref Vector512<uint> c3, ref Vector512<uint> d3,
        Vector512<uint> x0, Vector512<uint> x1, Vector512<uint> x2, Vector512<uint> x3,
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
    private static Vector512<uint> Rotate(Vector512<uint> lanes, [ConstantExpected] byte bits) => Avx512F.RotateRight(lanes, bits);
}

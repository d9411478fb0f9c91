using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Kernels;

/// <content>Four inputs at once, a lane each: for processors without wider vectors, and for what is left where there are some.</content>
internal static unsafe partial class Blake3Kernel
{
    private static bool Has4 => Vector128.IsHardwareAccelerated && BitConverter.IsLittleEndian;

    [SkipLocalsInit]
    private static void Hash4(byte* inputs, int inputBytes, ulong counter, Span<uint> values)
    {
        // Vectors that lie across two lines of the cache are read twice: they are aligned here, the message first.
        byte* room = stackalloc byte[(Words + ValueWords + 1) * 16];
        var message = (Vector128<uint>*)(((nuint)room + 16 - 1) & ~((nuint)16 - 1));
        Vector128<uint>* value = message + Words;
        bool areChunks = inputBytes == ChunkBytes;
        for (int i = 0; i < ValueWords; i++)
            value[i] = Vector128.Create(Start[i]);
        Vector128<uint> low = Vector128.Create((uint)counter), high = Vector128.Create((uint)(counter >> 32));
        if (areChunks)
        {
            low += Vector128<uint>.Indices;
            high -= Vector128.LessThan(low, Vector128<uint>.Indices); // a lane whose low half ran over is all ones there
        }

        for (int offset = 0; offset < inputBytes; offset += BlockBytes)
        {
            Transpose(inputs + offset, inputBytes, message);
            uint flags = !areChunks ? Parent : (offset == 0 ? ChunkStart : 0) | (offset == ChunkBytes - BlockBytes ? ChunkEnd : 0);
            Compress(value, message, low, high, Vector128.Create(flags));
        }

        uint* words = (uint*)value;
        for (int lane = 0; lane < Vector128<uint>.Count; lane++)
            for (int word = 0; word < ValueWords; word++)
                values[(lane * ValueWords) + word] = words[(word * Vector128<uint>.Count) + lane];
    }

    /// <summary>Reads a block of each input; word i of all of them becomes vector i.</summary>
    private static void Transpose(byte* inputs, int inputBytes, Vector128<uint>* message)
    {
        uint* a = (uint*)inputs, b = (uint*)(inputs + inputBytes), c = (uint*)(inputs + (2 * inputBytes)), d = (uint*)(inputs + (3 * inputBytes));
        for (int word = 0; word < Words; word++)
            message[word] = Vector128.Create(a[word], b[word], c[word], d[word]);
    }

    private static void Compress(Vector128<uint>* value, Vector128<uint>* m, Vector128<uint> low, Vector128<uint> high, Vector128<uint> flags)
    {
        Vector128<uint> s0 = value[0], s1 = value[1], s2 = value[2], s3 = value[3], s4 = value[4], s5 = value[5], s6 = value[6], s7 = value[7];
        Vector128<uint> s8 = Vector128.Create(Start[0]), s9 = Vector128.Create(Start[1]), s10 = Vector128.Create(Start[2]), s11 = Vector128.Create(Start[3]);
        Vector128<uint> s12 = low, s13 = high, s14 = Vector128.Create((uint)BlockBytes), s15 = flags;
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
        ref Vector128<uint> a0, ref Vector128<uint> b0, ref Vector128<uint> c0, ref Vector128<uint> d0,
        ref Vector128<uint> a1, ref Vector128<uint> b1, ref Vector128<uint> c1, ref Vector128<uint> d1,
        ref Vector128<uint> a2, ref Vector128<uint> b2, ref Vector128<uint> c2, ref Vector128<uint> d2,
        ref Vector128<uint> a3, ref Vector128<uint> b3, ref Vector128<uint> c3, ref Vector128<uint> d3,
        Vector128<uint> x0, Vector128<uint> x1, Vector128<uint> x2, Vector128<uint> x3,
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
    private static Vector128<uint> Rotate(Vector128<uint> lanes, [ConstantExpected] byte bits) => (lanes >>> bits) | (lanes << (32 - bits));
}

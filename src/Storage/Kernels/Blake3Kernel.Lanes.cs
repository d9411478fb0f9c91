using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Treepie.Storage.Kernels;

/// <content>Hashes as many inputs at once as a vector has lanes.</content>
internal static unsafe partial class Blake3Kernel
{
    [SkipLocalsInit]
    private static void Hash<TLanes, TVector>(byte* inputs, int inputBytes, ulong counter, Span<uint> values)
        where TLanes : IBlake3Lanes<TVector>
        where TVector : unmanaged
    {
        // Vectors that cross a cache line are read twice, so they are aligned here, the message first.
        int lanes = sizeof(TVector) / sizeof(uint);
        byte* room = stackalloc byte[((2 * Words) + ValueWords + 1) * sizeof(TVector)];
        var message = (TVector*)(((nuint)room + (nuint)sizeof(TVector) - 1) & ~((nuint)sizeof(TVector) - 1));
        TVector* scratch = message + Words, value = scratch + Words;
        bool areChunks = inputBytes == ChunkBytes;
        for (int i = 0; i < ValueWords; i++)
            value[i] = TLanes.Broadcast(Start[i]);
        TVector low = TLanes.Broadcast((uint)counter), high = TLanes.Broadcast((uint)(counter >> 32));
        if (areChunks)
        {
            low = TLanes.Add(low, TLanes.Indices);
            // A lane whose low half overflowed has all bits set in the comparison.
            high = TLanes.Subtract(high, TLanes.LessThan(low, TLanes.Indices));
        }

        for (int offset = 0; offset < inputBytes; offset += BlockBytes)
        {
            TLanes.Transpose(inputs + offset, inputBytes, message, scratch);
            uint flags = !areChunks
                ? Parent
                : (offset == 0 ? ChunkStart : 0) | (offset == ChunkBytes - BlockBytes ? ChunkEnd : 0);
            Compress<TLanes, TVector>(value, message, low, high, TLanes.Broadcast(flags));
        }

        uint* words = (uint*)value;
        for (int lane = 0; lane < lanes; lane++)
            for (int word = 0; word < ValueWords; word++)
                values[(lane * ValueWords) + word] = words[(word * lanes) + lane];
    }

    private static void Compress<TLanes, TVector>(TVector* value, TVector* m, TVector low, TVector high, TVector flags)
        where TLanes : IBlake3Lanes<TVector>
        where TVector : unmanaged
    {
        TVector s0 = value[0],
            s1 = value[1],
            s2 = value[2],
            s3 = value[3],
            s4 = value[4],
            s5 = value[5],
            s6 = value[6],
            s7 = value[7];
        TVector s8 = TLanes.Broadcast(Start[0]),
            s9 = TLanes.Broadcast(Start[1]),
            s10 = TLanes.Broadcast(Start[2]),
            s11 = TLanes.Broadcast(Start[3]);
        TVector s12 = low, s13 = high, s14 = TLanes.Broadcast(BlockBytes), s15 = flags;
        for (int round = 0; round < Rounds * Words; round += Words)
        {
            ReadOnlySpan<byte> s = Schedule.Slice(round, Words);
            Mix<TLanes, TVector>(
                ref s0, ref s4, ref s8, ref s12, ref s1, ref s5, ref s9, ref s13, ref s2, ref s6, ref s10, ref s14, ref s3,
                ref s7, ref s11, ref s15, m[s[0]], m[s[2]], m[s[4]], m[s[6]], 16, 12);
            Mix<TLanes, TVector>(
                ref s0, ref s4, ref s8, ref s12, ref s1, ref s5, ref s9, ref s13, ref s2, ref s6, ref s10, ref s14, ref s3,
                ref s7, ref s11, ref s15, m[s[1]], m[s[3]], m[s[5]], m[s[7]], 8, 7);
            Mix<TLanes, TVector>(
                ref s0, ref s5, ref s10, ref s15, ref s1, ref s6, ref s11, ref s12, ref s2, ref s7, ref s8, ref s13, ref s3,
                ref s4, ref s9, ref s14, m[s[8]], m[s[10]], m[s[12]], m[s[14]], 16, 12);
            Mix<TLanes, TVector>(
                ref s0, ref s5, ref s10, ref s15, ref s1, ref s6, ref s11, ref s12, ref s2, ref s7, ref s8, ref s13, ref s3,
                ref s4, ref s9, ref s14, m[s[9]], m[s[11]], m[s[13]], m[s[15]], 8, 7);
        }

        (value[0], value[1], value[2], value[3]) =
            (TLanes.Xor(s0, s8), TLanes.Xor(s1, s9), TLanes.Xor(s2, s10), TLanes.Xor(s3, s11));
        (value[4], value[5], value[6], value[7]) =
            (TLanes.Xor(s4, s12), TLanes.Xor(s5, s13), TLanes.Xor(s6, s14), TLanes.Xor(s7, s15));
    }

    /// <summary>
    /// Half of the mixing of four columns. The steps are interleaved because each depends on the one before it.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Mix<TLanes, TVector>(
        ref TVector a0, ref TVector b0, ref TVector c0, ref TVector d0,
        ref TVector a1, ref TVector b1, ref TVector c1, ref TVector d1,
        ref TVector a2, ref TVector b2, ref TVector c2, ref TVector d2,
        ref TVector a3, ref TVector b3, ref TVector c3, ref TVector d3,
        TVector x0, TVector x1, TVector x2, TVector x3,
        [ConstantExpected] byte first,
        [ConstantExpected] byte second)
        where TLanes : IBlake3Lanes<TVector>
        where TVector : unmanaged
    {
        a0 = TLanes.Add(TLanes.Add(a0, b0), x0);
        a1 = TLanes.Add(TLanes.Add(a1, b1), x1);
        a2 = TLanes.Add(TLanes.Add(a2, b2), x2);
        a3 = TLanes.Add(TLanes.Add(a3, b3), x3);
        d0 = TLanes.XorRotate(d0, a0, first);
        d1 = TLanes.XorRotate(d1, a1, first);
        d2 = TLanes.XorRotate(d2, a2, first);
        d3 = TLanes.XorRotate(d3, a3, first);
        c0 = TLanes.Add(c0, d0);
        c1 = TLanes.Add(c1, d1);
        c2 = TLanes.Add(c2, d2);
        c3 = TLanes.Add(c3, d3);
        b0 = TLanes.XorRotate(b0, c0, second);
        b1 = TLanes.XorRotate(b1, c1, second);
        b2 = TLanes.XorRotate(b2, c2, second);
        b3 = TLanes.XorRotate(b3, c3, second);
    }
}

using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Kernels;

/// <summary>Hashes sixteen inputs at once with AVX-512.</summary>
internal readonly unsafe struct Blake3Avx512 : IBlake3Lanes<Vector512<uint>>
{
    public static bool IsSupported => Avx512F.IsSupported;

    public static Vector512<uint> Indices => Vector512<uint>.Indices;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<uint> Broadcast(uint number) => Vector512.Create(number);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<uint> LessThan(Vector512<uint> one, Vector512<uint> other) => Vector512.LessThan(one, other);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<uint> Add(Vector512<uint> one, Vector512<uint> other) => one + other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<uint> Subtract(Vector512<uint> one, Vector512<uint> other) => one - other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<uint> Xor(Vector512<uint> one, Vector512<uint> other) => one ^ other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector512<uint> XorRotate(Vector512<uint> one, Vector512<uint> other, [ConstantExpected] byte bits)
    {
        Vector512<uint> both = one ^ other;
        return Avx512F.RotateRight(both, bits);
    }

    public static void Transpose(byte* inputs, int inputBytes, Vector512<uint>* message, Vector512<uint>* scratch)
    {
        for (int row = 0; row < Blake3Kernel.Words; row += 4)
        {
            byte* input = inputs + (row * inputBytes);
            Vector512<uint> a = Vector512.Load(input).AsUInt32(), b = Vector512.Load(input + inputBytes).AsUInt32();
            Vector512<uint> c = Vector512.Load(input + (2 * inputBytes)).AsUInt32(),
                d = Vector512.Load(input + (3 * inputBytes)).AsUInt32();
            Vector512<ulong> ab = Avx512F.UnpackLow(a, b).AsUInt64(), cd = Avx512F.UnpackLow(c, d).AsUInt64();
            Vector512<ulong> abHigh = Avx512F.UnpackHigh(a, b).AsUInt64(), cdHigh = Avx512F.UnpackHigh(c, d).AsUInt64();
            scratch[row] = Avx512F.UnpackLow(ab, cd).AsUInt32();
            scratch[row + 1] = Avx512F.UnpackHigh(ab, cd).AsUInt32();
            scratch[row + 2] = Avx512F.UnpackLow(abHigh, cdHigh).AsUInt32();
            scratch[row + 3] = Avx512F.UnpackHigh(abHigh, cdHigh).AsUInt32();
        }

        // The 128-bit quarter q of each vector has word 4q + i of four inputs. Combine them.
        for (int i = 0; i < 4; i++)
        {
            Vector512<uint> even = Avx512F.Shuffle4x128(scratch[i], scratch[4 + i], 0x88),
                odd = Avx512F.Shuffle4x128(scratch[i], scratch[4 + i], 0xDD);
            Vector512<uint> evenHigh = Avx512F.Shuffle4x128(scratch[8 + i], scratch[12 + i], 0x88),
                oddHigh = Avx512F.Shuffle4x128(scratch[8 + i], scratch[12 + i], 0xDD);
            message[i] = Avx512F.Shuffle4x128(even, evenHigh, 0x88);
            message[4 + i] = Avx512F.Shuffle4x128(odd, oddHigh, 0x88);
            message[8 + i] = Avx512F.Shuffle4x128(even, evenHigh, 0xDD);
            message[12 + i] = Avx512F.Shuffle4x128(odd, oddHigh, 0xDD);
        }
    }
}

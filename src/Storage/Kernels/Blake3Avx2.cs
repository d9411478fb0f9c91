using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Kernels;

/// <summary>Hashes eight inputs at once with AVX2.</summary>
internal readonly unsafe struct Blake3Avx2 : IBlake3Lanes<Vector256<uint>>
{
    public static bool IsSupported => Avx2.IsSupported;

    public static Vector256<uint> Indices => Vector256<uint>.Indices;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<uint> Broadcast(uint number) => Vector256.Create(number);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<uint> LessThan(Vector256<uint> one, Vector256<uint> other) => Vector256.LessThan(one, other);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<uint> Add(Vector256<uint> one, Vector256<uint> other) => one + other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<uint> Subtract(Vector256<uint> one, Vector256<uint> other) => one - other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<uint> Xor(Vector256<uint> one, Vector256<uint> other) => one ^ other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector256<uint> XorRotate(Vector256<uint> one, Vector256<uint> other, [ConstantExpected] byte bits)
    {
        Vector256<uint> both = one ^ other;
        return Avx512F.VL.IsSupported ? Avx512F.VL.RotateRight(both, bits) : (both >>> bits) | (both << (32 - bits));
    }

    public static void Transpose(byte* inputs, int inputBytes, Vector256<uint>* message, Vector256<uint>* scratch)
    {
        for (int half = 0; half < Blake3Kernel.Words; half += Vector256<uint>.Count)
        {
            for (int row = 0; row < Vector256<uint>.Count; row += 4)
            {
                byte* input = inputs + (row * inputBytes) + (half * sizeof(uint));
                Vector256<uint> a = Vector256.Load(input).AsUInt32(), b = Vector256.Load(input + inputBytes).AsUInt32();
                Vector256<uint> c = Vector256.Load(input + (2 * inputBytes)).AsUInt32(),
                    d = Vector256.Load(input + (3 * inputBytes)).AsUInt32();
                Vector256<ulong> ab = Avx2.UnpackLow(a, b).AsUInt64(), cd = Avx2.UnpackLow(c, d).AsUInt64();
                Vector256<ulong> abHigh = Avx2.UnpackHigh(a, b).AsUInt64(), cdHigh = Avx2.UnpackHigh(c, d).AsUInt64();
                scratch[row] = Avx2.UnpackLow(ab, cd).AsUInt32();
                scratch[row + 1] = Avx2.UnpackHigh(ab, cd).AsUInt32();
                scratch[row + 2] = Avx2.UnpackLow(abHigh, cdHigh).AsUInt32();
                scratch[row + 3] = Avx2.UnpackHigh(abHigh, cdHigh).AsUInt32();
            }

            // The 128-bit quarter q of each vector has word 4q + i of four inputs. Combine them.
            for (int i = 0; i < 4; i++)
            {
                message[half + i] = Avx2.Permute2x128(scratch[i], scratch[4 + i], 0x20);
                message[half + 4 + i] = Avx2.Permute2x128(scratch[i], scratch[4 + i], 0x31);
            }
        }
    }
}

using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Treepie.Storage.Kernels;

/// <summary>Hashes four inputs at once, on processors without wider vectors or for the rest on others.</summary>
internal readonly unsafe struct Blake3Vector128 : IBlake3Lanes<Vector128<uint>>
{
    public static bool IsSupported => Vector128.IsHardwareAccelerated && BitConverter.IsLittleEndian;

    public static Vector128<uint> Indices => Vector128<uint>.Indices;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<uint> Broadcast(uint number) => Vector128.Create(number);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<uint> LessThan(Vector128<uint> one, Vector128<uint> other) => Vector128.LessThan(one, other);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<uint> Add(Vector128<uint> one, Vector128<uint> other) => one + other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<uint> Subtract(Vector128<uint> one, Vector128<uint> other) => one - other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<uint> Xor(Vector128<uint> one, Vector128<uint> other) => one ^ other;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Vector128<uint> XorRotate(Vector128<uint> one, Vector128<uint> other, [ConstantExpected] byte bits)
    {
        Vector128<uint> both = one ^ other;
        return (both >>> bits) | (both << (32 - bits));
    }

    public static void Transpose(byte* inputs, int inputBytes, Vector128<uint>* message, Vector128<uint>* scratch)
    {
        uint* a = (uint*)inputs,
            b = (uint*)(inputs + inputBytes),
            c = (uint*)(inputs + (2 * inputBytes)),
            d = (uint*)(inputs + (3 * inputBytes));
        for (int word = 0; word < Blake3Kernel.Words; word++)
            message[word] = Vector128.Create(a[word], b[word], c[word], d[word]);
    }
}

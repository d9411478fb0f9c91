using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Products and distances of vectors. Sums of floats run in 16 lanes that are added in one fixed order, also in the scalar
/// twins, so that a result is the same to the last bit on every machine; sums of bytes are exact.
/// </summary>
internal static class VectorKernels
{
    private const int Lanes = 16;

    /// <summary>Sum of products.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public static float Dot(ReadOnlySpan<float> left, ReadOnlySpan<float> right)
    {
        Debug.Assert(left.Length == right.Length, "vectors have the same dimensions");
        if (!Vector256.IsHardwareAccelerated || left.Length < Lanes)
            return DotScalar(left, right);

        ref float a = ref MemoryMarshal.GetReference(left);
        ref float b = ref MemoryMarshal.GetReference(right);
        Vector256<float> low = Vector256<float>.Zero, high = Vector256<float>.Zero;
        int i = 0;
        for (; i <= left.Length - Lanes; i += Lanes)
        {
            low += Vector256.LoadUnsafe(ref a, (nuint)i) * Vector256.LoadUnsafe(ref b, (nuint)i);
            high += Vector256.LoadUnsafe(ref a, (nuint)i + 8) * Vector256.LoadUnsafe(ref b, (nuint)i + 8);
        }

        Span<float> sums = stackalloc float[Lanes];
        low.CopyTo(sums);
        high.CopyTo(sums[8..]);
        for (; i < left.Length; i++)
            sums[i % Lanes] += left[i] * right[i];
        return Add(sums);
    }

    /// <summary>The scalar twin of <see cref="Dot(ReadOnlySpan{float}, ReadOnlySpan{float})"/>.</summary>
    public static float DotScalar(ReadOnlySpan<float> left, ReadOnlySpan<float> right)
    {
        Debug.Assert(left.Length == right.Length, "vectors have the same dimensions");
        Span<float> sums = stackalloc float[Lanes];
        sums.Clear();
        for (int i = 0; i < left.Length; i++)
            sums[i % Lanes] += left[i] * right[i];
        return Add(sums);
    }

    /// <summary>Sum of squared differences.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public static float SquaredDistance(ReadOnlySpan<float> left, ReadOnlySpan<float> right)
    {
        Debug.Assert(left.Length == right.Length, "vectors have the same dimensions");
        if (!Vector256.IsHardwareAccelerated || left.Length < Lanes)
            return SquaredDistanceScalar(left, right);

        ref float a = ref MemoryMarshal.GetReference(left);
        ref float b = ref MemoryMarshal.GetReference(right);
        Vector256<float> low = Vector256<float>.Zero, high = Vector256<float>.Zero;
        int i = 0;
        for (; i <= left.Length - Lanes; i += Lanes)
        {
            Vector256<float> x = Vector256.LoadUnsafe(ref a, (nuint)i) - Vector256.LoadUnsafe(ref b, (nuint)i);
            Vector256<float> y = Vector256.LoadUnsafe(ref a, (nuint)i + 8) - Vector256.LoadUnsafe(ref b, (nuint)i + 8);
            low += x * x;
            high += y * y;
        }

        Span<float> sums = stackalloc float[Lanes];
        low.CopyTo(sums);
        high.CopyTo(sums[8..]);
        for (; i < left.Length; i++)
            sums[i % Lanes] += (left[i] - right[i]) * (left[i] - right[i]);
        return Add(sums);
    }

    /// <summary>The scalar twin of <see cref="SquaredDistance"/>.</summary>
    public static float SquaredDistanceScalar(ReadOnlySpan<float> left, ReadOnlySpan<float> right)
    {
        Debug.Assert(left.Length == right.Length, "vectors have the same dimensions");
        Span<float> sums = stackalloc float[Lanes];
        sums.Clear();
        for (int i = 0; i < left.Length; i++)
            sums[i % Lanes] += (left[i] - right[i]) * (left[i] - right[i]);
        return Add(sums);
    }

    /// <summary>Sum of products of numbers from −127 to 127; exact for up to 133,000 numbers.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public static int Dot(ReadOnlySpan<sbyte> left, ReadOnlySpan<sbyte> right)
    {
        if (!Vector256.IsHardwareAccelerated || left.Length < Vector256<sbyte>.Count)
            return DotScalar(left, right);

        ref sbyte a = ref MemoryMarshal.GetReference(left);
        ref sbyte b = ref MemoryMarshal.GetReference(right);
        Vector256<int> sums = Vector256<int>.Zero;
        int i = 0;
        for (; i <= left.Length - Vector256<sbyte>.Count; i += Vector256<sbyte>.Count)
        {
            Vector256<sbyte> x = Vector256.LoadUnsafe(ref a, (nuint)i), y = Vector256.LoadUnsafe(ref b, (nuint)i);
            sums += Products(Vector256.WidenLower(x), Vector256.WidenLower(y))
                + Products(Vector256.WidenUpper(x), Vector256.WidenUpper(y));
        }

        return Vector256.Sum(sums) + DotScalar(left[i..], right[i..]);
    }

    /// <summary>The scalar twin of <see cref="Dot(ReadOnlySpan{sbyte}, ReadOnlySpan{sbyte})"/>.</summary>
    public static int DotScalar(ReadOnlySpan<sbyte> left, ReadOnlySpan<sbyte> right)
    {
        int sum = 0;
        for (int i = 0; i < left.Length; i++)
            sum += left[i] * right[i];
        return sum;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static Vector256<int> Products(Vector256<short> left, Vector256<short> right)
    {
        if (Avx2.IsSupported)
            return Avx2.MultiplyAddAdjacent(left, right);

        // A product is at most 16,129 and fits into a short.
        Vector256<short> products = left * right;
        return Vector256.WidenLower(products) + Vector256.WidenUpper(products);
    }

    private static float Add(ReadOnlySpan<float> sums)
    {
        float sum = 0;
        foreach (float part in sums)
            sum += part;
        return sum;
    }
}

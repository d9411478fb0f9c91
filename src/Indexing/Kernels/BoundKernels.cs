using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

/// <summary>Loops over what the 64 blocks of a window can score at the most. Each vector form has a scalar twin.</summary>
internal static class BoundKernels
{
    /// <summary>Blocks of a window.</summary>
    public const int Blocks = 64;

    /// <summary>Writes each byte as a number, multiplied.</summary>
    public static void Spread(ReadOnlySpan<byte> impacts, float unit, Span<float> parts)
    {
        Debug.Assert(impacts.Length == Blocks && parts.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
        {
            SpreadScalar(impacts, unit, parts);
            return;
        }

        ref byte source = ref MemoryMarshal.GetReference(impacts);
        ref float target = ref MemoryMarshal.GetReference(parts);
        Vector256<float> factor = Vector256.Create(unit);
        for (nuint i = 0; i < Blocks; i += 8)
        {
            Vector128<byte> eight = Vector128.CreateScalarUnsafe(Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref source, i))).AsByte();
            Vector256<uint> wide = Vector256.WidenLower(Vector128.WidenLower(eight).ToVector256Unsafe());
            (Vector256.ConvertToSingle(wide.AsInt32()) * factor).StoreUnsafe(ref target, i);
        }
    }

    /// <summary>The scalar twin of <see cref="Spread"/>.</summary>
    public static void SpreadScalar(ReadOnlySpan<byte> impacts, float unit, Span<float> parts)
    {
        for (int i = 0; i < Blocks; i++)
            parts[i] = impacts[i] * unit;
    }

    /// <summary>Adds parts, multiplied.</summary>
    public static void AddScaled(Span<float> bounds, ReadOnlySpan<float> parts, float weight)
    {
        Debug.Assert(bounds.Length == Blocks && parts.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
        {
            AddScaledScalar(bounds, parts, weight);
            return;
        }

        ref float target = ref MemoryMarshal.GetReference(bounds);
        ref float source = ref MemoryMarshal.GetReference(parts);
        Vector256<float> factor = Vector256.Create(weight);
        for (nuint i = 0; i < Blocks; i += 8)
            (Vector256.LoadUnsafe(ref target, i) + (Vector256.LoadUnsafe(ref source, i) * factor)).StoreUnsafe(ref target, i);
    }

    /// <summary>The scalar twin of <see cref="AddScaled"/>.</summary>
    public static void AddScaledScalar(Span<float> bounds, ReadOnlySpan<float> parts, float weight)
    {
        for (int i = 0; i < Blocks; i++)
            bounds[i] += weight * parts[i];
    }

    /// <summary>The largest; numbers are from 0 on.</summary>
    public static float Largest(ReadOnlySpan<float> bounds)
    {
        Debug.Assert(bounds.Length == Blocks);
        if (!Vector256.IsHardwareAccelerated)
            return LargestScalar(bounds);

        ref float source = ref MemoryMarshal.GetReference(bounds);
        Vector256<float> largest = Vector256<float>.Zero;
        for (nuint i = 0; i < Blocks; i += 8)
            largest = Vector256.Max(largest, Vector256.LoadUnsafe(ref source, i));
        float most = 0;
        for (int i = 0; i < Vector256<float>.Count; i++)
            most = Math.Max(most, largest[i]);
        return most;
    }

    /// <summary>The scalar twin of <see cref="Largest"/>.</summary>
    public static float LargestScalar(ReadOnlySpan<float> bounds)
    {
        float most = 0;
        foreach (float bound in bounds)
            most = Math.Max(most, bound);
        return most;
    }
}

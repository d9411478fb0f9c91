using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Memory;

/// <summary>Products of 128 bits.</summary>
internal static class WideProduct
{
    /// <summary>
    /// Returns the xor of both halves of a product. The low half is computed separately: the one that comes with the high
    /// half passes through memory, which would delay every hash.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Fold(ulong a, ulong b)
    {
        ulong high = Bmi2.X64.IsSupported ? Bmi2.X64.MultiplyNoFlags(a, b) : Math.BigMul(a, b, out _);
        return high ^ unchecked(a * b);
    }
}

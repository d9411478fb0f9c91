using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Memory;

/// <summary>Products of 128 bits.</summary>
internal static class WideProduct
{
    /// <summary>
    /// Both halves of a product, joined by exclusive or. The low half is multiplied anew: the one that comes with the high half
    /// goes through memory, for which everybody who needs a hash would wait.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Fold(ulong a, ulong b)
    {
        ulong high = Bmi2.X64.IsSupported ? Bmi2.X64.MultiplyNoFlags(a, b) : Math.BigMul(a, b, out _);
        return high ^ unchecked(a * b);
    }
}

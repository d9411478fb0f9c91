using System.Runtime.CompilerServices;

namespace Treepie.Storage.Memory;

/// <summary>Bytes of a value in memory, known when code is compiled for its type.</summary>
internal static class RawSize
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Of<T>()
        where T : unmanaged => Unsafe.SizeOf<T>();
}

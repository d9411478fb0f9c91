using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// Where bytes of native memory lie, so that who has found them in a page looks at them again without looking them up: they stay
/// where they are until the transaction that reads them ends. It keeps nothing alive: who has one has the transaction too, and
/// forgets it first.
/// </summary>
internal readonly unsafe struct HeldBytes
{
    private readonly byte* _start;
    private readonly int _length;

    /// <summary>Notes where they lie. Never bytes of an array, which may be moved.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public HeldBytes(ReadOnlySpan<byte> bytes)
    {
        _start = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(bytes));
        _length = bytes.Length;
    }

    /// <summary>The bytes.</summary>
    public ReadOnlySpan<byte> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => new(_start, _length);
    }
}

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// The location of bytes in native memory, such as a page, for repeated access without another look-up. They do not move
/// until the transaction that reads them ends. Does not keep the memory alive: the owner also holds the transaction and must
/// drop this first.
/// </summary>
internal readonly unsafe struct HeldBytes
{
    private readonly byte* _start;
    private readonly int _length;

    /// <summary>Stores the location of bytes, which must not be those of an array, which may be moved.</summary>
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

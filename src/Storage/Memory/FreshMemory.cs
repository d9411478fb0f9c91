namespace Treepie.Storage.Memory;

/// <summary>Copies to memory that may never have been written.</summary>
internal static class FreshMemory
{
    /// <summary>
    /// Like <see cref="ReadOnlySpan{T}.CopyTo"/>, which reads the destination before it writes: for memory never written, the
    /// system would first map its zero page and then replace it at once, with an interrupt to the other processors.
    /// </summary>
    public static void CopyToFresh(this ReadOnlySpan<byte> source, Span<byte> destination)
    {
        if (source.IsEmpty)
            return;

        Volatile.Write(ref destination[0], source[0]);
        source.CopyTo(destination);
    }
}

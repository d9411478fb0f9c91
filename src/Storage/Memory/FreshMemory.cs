namespace Treepie.Storage.Memory;

/// <summary>Copies into memory that may never have been written.</summary>
internal static class FreshMemory
{
    /// <summary>
    /// As <see cref="ReadOnlySpan{T}.CopyTo"/>, which reads the destination before it writes there: of memory that nothing has
    /// been written to, the system would map its page of zeros first and replace it at once, with an interrupt to the other
    /// processors.
    /// </summary>
    public static void CopyToFresh(this ReadOnlySpan<byte> source, Span<byte> destination)
    {
        if (source.IsEmpty)
            return;

        Volatile.Write(ref destination[0], source[0]);
        source.CopyTo(destination);
    }
}

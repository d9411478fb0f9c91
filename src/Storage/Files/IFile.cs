namespace Treepie.Storage.Files;

/// <summary>An open file. Reads and writes may run concurrently on different ranges.</summary>
internal interface IFile : IDisposable
{
    /// <summary>The name within the directory.</summary>
    string Name { get; }

    /// <summary>The length in bytes.</summary>
    long Length { get; }

    /// <summary>Reads until the span is full or the file ends. Returns the number of bytes read.</summary>
    int Read(Span<byte> destination, long offset);

    /// <summary>
    /// Like <see cref="Read"/>, but from the disk instead of the system's cache if possible. Offset, length and address must
    /// be multiples of 4 KiB. One thread at a time.
    /// </summary>
    int ReadPastCache(Span<byte> destination, long offset) => Read(destination, offset);

    /// <summary>Whether the last <see cref="ReadPastCache"/> bypassed the cache.</summary>
    bool ReadsPastCache => false;

    /// <summary>Hints that only this part will be read soon. Does not wait and may do nothing.</summary>
    void Announce(long offset, long lengthBytes)
    {
    }

    /// <summary>Writes all bytes; durable after <see cref="Sync"/>.</summary>
    void Write(ReadOnlySpan<byte> source, long offset);

    /// <summary>Makes everything written durable.</summary>
    void Sync();

    /// <summary>
    /// Writes all bytes and makes them durable, in one call if the system supports it. After <see cref="TryWriteDirectly"/>,
    /// offset, length and address must be multiples of 4 KiB.
    /// </summary>
    void WriteDurable(ReadOnlySpan<byte> source, long offset)
    {
        Write(source, offset);
        Sync();
    }

    /// <summary>
    /// Sets whether <see cref="WriteDurable"/> bypasses the system's cache (O_DIRECT|O_DSYNC). Returns false and changes
    /// nothing if the file system refuses.
    /// </summary>
    bool TryWriteDirectly(bool isDirect) => !isDirect;

    /// <summary>
    /// Extends the file with allocated blocks. Returns false and changes nothing if the file system cannot allocate in
    /// advance. Call <see cref="FileGrowth.Allocate"/> instead.
    /// </summary>
    bool TryAllocate(long offset, long lengthBytes);

    /// <summary>Shortens the file and frees its space. Never extends it.</summary>
    void Truncate(long lengthBytes);
}

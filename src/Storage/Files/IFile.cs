namespace Treepie.Storage.Files;

/// <summary>An open file. Reads and writes may run concurrently on different ranges.</summary>
internal interface IFile : IDisposable
{
    /// <summary>Name within its directory.</summary>
    string Name { get; }

    /// <summary>Length in bytes.</summary>
    long Length { get; }

    /// <summary>Reads until the span is full or the file ends; returns the bytes read.</summary>
    int Read(Span<byte> destination, long offset);

    /// <summary>
    /// As <see cref="Read"/>, from the disk and not from the system's cache where there is a way for that. Offset, length and
    /// address must be multiples of 4 KiB. One thread at a time.
    /// </summary>
    int ReadPastCache(Span<byte> destination, long offset) => Read(destination, offset);

    /// <summary>Whether <see cref="ReadPastCache"/> went past the cache the last time.</summary>
    bool ReadsPastCache => false;

    /// <summary>
    /// Says that a part is going to be read soon, and nothing around it. Waits for nothing, and may do nothing.
    /// </summary>
    void Announce(long offset, long lengthBytes)
    {
    }

    /// <summary>Writes all bytes; durable after <see cref="Sync"/>.</summary>
    void Write(ReadOnlySpan<byte> source, long offset);

    /// <summary>Makes everything written durable.</summary>
    void Sync();

    /// <summary>
    /// Writes all bytes and makes them durable, at once where the system has a way for that. After <see cref="TryWriteDirectly"/>
    /// offset, length and address must be multiples of 4 KiB.
    /// </summary>
    void WriteDurable(ReadOnlySpan<byte> source, long offset)
    {
        Write(source, offset);
        Sync();
    }

    /// <summary>
    /// Chooses whether <see cref="WriteDurable"/> goes past the system's cache (O_DIRECT|O_DSYNC) or through it; false, nothing
    /// changed, where the file system refuses.
    /// </summary>
    bool TryWriteDirectly(bool isDirect) => !isDirect;

    /// <summary>
    /// Makes the file longer by a part behind its end, with real blocks; false, nothing changed, where the file system cannot
    /// give blocks ahead. For <see cref="FileGrowth.Allocate"/>.
    /// </summary>
    bool TryAllocate(long offset, long lengthBytes);

    /// <summary>Makes the file shorter, and gives the room back to the system; never longer.</summary>
    void Truncate(long lengthBytes);
}

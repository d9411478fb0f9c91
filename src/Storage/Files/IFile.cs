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

    /// <summary>Says that a part is going to be read soon, and nothing around it. Waits for nothing, and may do nothing.</summary>
    void Announce(long offset, long lengthBytes)
    {
    }

    /// <summary>Writes all bytes; durable after <see cref="Sync"/>.</summary>
    void Write(ReadOnlySpan<byte> source, long offset);

    /// <summary>Makes everything written durable.</summary>
    void Sync();

    /// <summary>
    /// Writes all bytes and makes them durable, at once where the system has a way for that. After <see cref="TryWriteDirectly"/> offset, length and
    /// address must be multiples of 4 KiB.
    /// </summary>
    void WriteDurable(ReadOnlySpan<byte> source, long offset)
    {
        Write(source, offset);
        Sync();
    }

    /// <summary>
    /// Chooses whether <see cref="WriteDurable"/> goes past the system's cache (O_DIRECT|O_DSYNC) or through it; false, nothing changed, where the
    /// file system refuses.
    /// </summary>
    bool TryWriteDirectly(bool isDirect) => !isDirect;

    /// <summary>Grows the file to a length with real blocks; never shrinks it.</summary>
    void Allocate(long lengthBytes);

    /// <summary>Makes the file shorter, and gives the room back to the system; never longer.</summary>
    void Truncate(long lengthBytes);
}

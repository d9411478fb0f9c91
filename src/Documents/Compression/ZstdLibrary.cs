namespace Treepie.Compression;

/// <summary>
/// Front door of the room: zstd. <see cref="OfSystem"/> is the library of the system where there is one (libzstd 1.4 or later:
/// faster at the higher levels), else the managed one of this program: both write the same format. Thread-safe.
/// </summary>
internal abstract unsafe class ZstdLibrary
{
    /// <summary>
    /// Largest window that is decompressed: 128 MiB, what the library's own tool takes. What asks for more was made to exhaust
    /// memory.
    /// </summary>
    public const int MaxWindowLog = 27;

    /// <summary>
    /// Bytes that a thread compresses at once. The library's own choice is four windows, 8 MiB, of which it keeps three for two
    /// threads, and as much of output; half of it with more of the window before it known to each job (<see cref="JobOverlap"/>)
    /// is as small in the end.
    /// </summary>
    public const int JobBytes = 4 << 20;

    /// <summary>
    /// Half a window of what comes before a job is read into it first: 9 would be all, 6 (an eighth) is what the library takes.
    /// </summary>
    private const int JobOverlap = 8;

    private const int CompressionLevel = 100,
        ChecksumFlag = 201,
        WorkerCount = 400,
        JobSize = 401,
        OverlapLog = 402,
        DecompressionWindowLogMax = 100;

    private static readonly Lazy<ZstdLibrary> _ofSystem = new(
        static () => NativeZstd.TryLoad(NativeZstd.NamesOfSystem) ?? (ZstdLibrary)new ManagedZstd());

    /// <summary>The fastest that there is.</summary>
    public static ZstdLibrary OfSystem => _ofSystem.Value;

    /// <summary>What begins a frame.</summary>
    public static ReadOnlySpan<byte> Magic => [0x28, 0xB5, 0x2F, 0xFD];

    /// <summary>
    /// A compressor. <paramref name="workers"/> is what came of the number of threads that was asked for: 0 where the library has
    /// none.
    /// </summary>
    public ZstdContext CreateCompressor(int level, ref int workers)
    {
        var context = new ZstdContext(NewCompressor(), this, compresses: true);
        try
        {
            Check(SetCompressor(context.Address, CompressionLevel, level));
            Check(SetCompressor(context.Address, ChecksumFlag, 1));
            if (workers > 0 && IsError(SetCompressor(context.Address, WorkerCount, workers)))
                workers = 0; // built without threads: it says so, and goes on with one
            if (workers > 0)
            {
                Check(SetCompressor(context.Address, JobSize, JobBytes));
                Check(SetCompressor(context.Address, OverlapLog, JobOverlap));
            }

            return context;
        }
        catch
        {
            context.Dispose();
            throw;
        }
    }

    /// <summary>Sets the level of a compressor that has compressed nothing yet.</summary>
    public void SetLevel(ZstdContext context, int level) => Check(SetCompressor(context.Address, CompressionLevel, level));

    /// <summary>Sets the number of threads of a compressor that has compressed nothing yet, and gives it.</summary>
    public int SetWorkers(ZstdContext context, int workers)
    {
        _ = SetCompressor(context.Address, WorkerCount, workers); // refused only where there are none
        return workers;
    }

    /// <summary>A decompressor that takes windows up to <see cref="MaxWindowLog"/>.</summary>
    public ZstdContext CreateDecompressor()
    {
        var context = new ZstdContext(NewDecompressor(), this, compresses: false);
        Check(SetDecompressor(context.Address, DecompressionWindowLogMax, MaxWindowLog));
        return context;
    }

    /// <summary>
    /// Goes on compressing; gives what is still inside when <paramref name="operation"/> asks for it to come out.
    /// </summary>
    public long Compress(
        ZstdContext context, ReadOnlySpan<byte> input, Span<byte> output, ZstdOperation operation, out int consumed,
        out int produced)
    {
        fixed (byte* source = input, destination = output)
        {
            var from = new ZstdBuffer(source, (nuint)input.Length);
            var to = new ZstdBuffer(destination, (nuint)output.Length);
            nuint left = Check(Compress(context.Address, &to, &from, (int)operation));
            (consumed, produced) = ((int)from.Position, (int)to.Position);
            return (long)left;
        }
    }

    /// <summary>Goes on decompressing; gives 0 when a frame is at its end.</summary>
    public long Decompress(ZstdContext context, ReadOnlySpan<byte> input, Span<byte> output, out int consumed, out int produced)
    {
        fixed (byte* source = input, destination = output)
        {
            var from = new ZstdBuffer(source, (nuint)input.Length);
            var to = new ZstdBuffer(destination, (nuint)output.Length);
            nuint wanted = Check(Decompress(context.Address, &to, &from));
            (consumed, produced) = ((int)from.Position, (int)to.Position);
            return (long)wanted;
        }
    }

    /// <summary>Frees what <see cref="CreateCompressor"/> or <see cref="CreateDecompressor"/> made.</summary>
    internal abstract void Free(nint context, bool compresses);

    private protected abstract nint NewCompressor();

    private protected abstract nint NewDecompressor();

    private protected abstract nuint SetCompressor(nint context, int parameter, int value);

    private protected abstract nuint SetDecompressor(nint context, int parameter, int value);

    private protected abstract nuint Compress(nint context, ZstdBuffer* output, ZstdBuffer* input, int operation);

    private protected abstract nuint Decompress(nint context, ZstdBuffer* output, ZstdBuffer* input);

    private protected abstract bool IsError(nuint result);

    private protected abstract string ErrorName(nuint result);

    private nuint Check(nuint result) => IsError(result) ? throw new InvalidDataException($"zstd: {ErrorName(result)}") : result;
}

namespace Treepie.Compression;

/// <summary>
/// The entry point of this folder: zstd. <see cref="OfSystem"/> is the system's library if there is one (libzstd 1.4 or later,
/// faster at higher levels), otherwise a managed implementation; both write the same format. Thread-safe.
/// </summary>
internal abstract unsafe class ZstdLibrary
{
    /// <summary>
    /// The maximum window size for decompression: 128 MiB, the limit of zstd's own tool. Data that needs more was made to exhaust
    /// memory.
    /// </summary>
    public const int MaxWindowLog = 27;

    /// <summary>
    /// The size of a worker thread's compression job, in bytes. The library's default is four windows, 8 MiB, of which it buffers
    /// three for two threads, plus as much output. Half of that compresses equally well if each job sees more of the window
    /// before it (<see cref="JobOverlap"/>).
    /// </summary>
    public const int JobBytes = 4 << 20;

    /// <summary>
    /// Each job first loads half a window of the preceding data. 9 would be the whole window; the library's default, 6, is an
    /// eighth.
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

    /// <summary>The fastest available library.</summary>
    public static ZstdLibrary OfSystem => _ofSystem.Value;

    /// <summary>The first bytes of a frame.</summary>
    public static ReadOnlySpan<byte> Magic => [0x28, 0xB5, 0x2F, 0xFD];

    /// <summary>
    /// Creates a compressor. <paramref name="workers"/> is the requested number of threads, and becomes 0 if the library does not
    /// support threads.
    /// </summary>
    public ZstdContext CreateCompressor(int level, ref int workers)
    {
        var context = new ZstdContext(NewCompressor(), this, compresses: true);
        try
        {
            Check(SetCompressor(context.Address, CompressionLevel, level));
            Check(SetCompressor(context.Address, ChecksumFlag, 1));
            if (workers > 0 && IsError(SetCompressor(context.Address, WorkerCount, workers)))
                workers = 0; // the library is built without threads: compress on the caller's
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

    /// <summary>Sets the level of a compressor that has not compressed anything yet.</summary>
    public void SetLevel(ZstdContext context, int level) => Check(SetCompressor(context.Address, CompressionLevel, level));

    /// <summary>Sets the number of threads of a compressor that has not compressed anything yet, and returns it.</summary>
    public int SetWorkers(ZstdContext context, int workers)
    {
        _ = SetCompressor(context.Address, WorkerCount, workers); // fails only if the library does not support threads
        return workers;
    }

    /// <summary>Creates a decompressor for windows up to <see cref="MaxWindowLog"/>.</summary>
    public ZstdContext CreateDecompressor()
    {
        var context = new ZstdContext(NewDecompressor(), this, compresses: false);
        Check(SetDecompressor(context.Address, DecompressionWindowLogMax, MaxWindowLog));
        return context;
    }

    /// <summary>
    /// Continues compressing. Returns how much output is still buffered if <paramref name="operation"/> flushes it.
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

    /// <summary>Continues decompressing. Returns 0 at the end of a frame.</summary>
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

    /// <summary>Frees what <see cref="CreateCompressor"/> or <see cref="CreateDecompressor"/> created.</summary>
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

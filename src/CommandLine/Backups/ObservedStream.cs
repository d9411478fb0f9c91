using Treepie.Backups;
using Treepie.Storage.Files;

namespace Treepie.CommandLine.Backups;

/// <summary>Reports how many bytes were read from or written to a stream, which it leaves open.</summary>
internal sealed class ObservedStream(Stream inner, BackupStep step, long total, IProgress<BackupProgress> progress)
    : ForwardStream
{
    private const long BytesPerReport = 1 << 20;

    private long _reported;

    /// <summary>Bytes so far.</summary>
    public long Count { get; private set; }

    public override bool CanRead => inner.CanRead;

    public override bool CanWrite => inner.CanWrite;

    public override int Read(Span<byte> buffer) => Add(inner.Read(buffer));

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        Add(await inner.ReadAsync(buffer, cancellationToken));

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        inner.Write(buffer);
        Add(buffer.Length);
    }

    public override async ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        await inner.WriteAsync(buffer, cancellationToken);
        Add(buffer.Length);
    }

    public override void Flush() => inner.Flush();

    private int Add(int count)
    {
        Count += count;
        if (Count - _reported >= BytesPerReport)
        {
            _reported = Count;
            progress.Report(new BackupProgress(step, 0, 0, 0, Count, total, null));
        }

        return count;
    }
}

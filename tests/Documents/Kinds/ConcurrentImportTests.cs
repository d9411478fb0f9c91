using Treepie.Backups;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>
/// Contents of attachments come before what has them, and stay until that is there, whatever else happens to the database
/// meanwhile.
/// </summary>
public sealed class ConcurrentImportTests : IDisposable
{
    private const int Documents = 8;

    private readonly TemporaryDirectory _directory = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_import_loses_no_content_to_another_import_or_to_a_deletion(bool deletes)
    {
        byte[] dump = await DumpAsync(seed: 1), other = await DumpAsync(seed: 2);
        for (int step = 0; step <= 16; step++)
        {
            await using Database database = Database.Open(Path.Combine(_directory.Path, $"to{step}"));
            if (deletes)
                await FillAsync(database, seed: 1, "old/");
            using var paused = new PausedStream(dump, (int)((long)dump.Length * step / 16));
            Task<BackupReport> first = database.ImportAsync(paused, cancellationToken: Cancel);
            await paused.Reached;
            if (deletes)
            {
                for (int i = 0; i < Documents; i++)
                    await database.WriteAsync(new WriteBatch().Delete($"old/{i}"), Cancel);
            }
            else
            {
                await database.ImportAsync(new MemoryStream(other), cancellationToken: Cancel);
            }

            paused.Continue();
            await first;
            Check(database, seed: 1);
            if (!deletes)
                Check(database, seed: 2);
            KindInvariants.Check(database);
            Assert.Equal(deletes ? Documents : 2 * Documents, database.GetStatistics().UniqueAttachmentCount);
        }
    }

    private async Task<byte[]> DumpAsync(int seed)
    {
        await using Database source = Database.Open(Path.Combine(_directory.Path, $"from{seed}"));
        await FillAsync(source, seed, $"docs{seed}/");
        var dump = new MemoryStream();
        await source.BackupAsync(dump, new BackupOptions { Compression = BackupCompression.None }, cancellationToken: Cancel);
        return dump.ToArray();
    }

    private static async Task FillAsync(Database database, int seed, string prefix)
    {
        for (int i = 0; i < Documents; i++)
        {
            await database.WriteAsync(new WriteBatch().Put($"{prefix}{i}", "{}"u8.ToArray()), Cancel);
            await using var upload = database.BeginUpload();
            await upload.WriteAsync(Content(seed, i), Cancel);
            await upload.CompleteAsync(Cancel);
            await database.WriteAsync(new WriteBatch().PutAttachment($"{prefix}{i}", "a", "text/plain", upload), Cancel);
        }
    }

    private static void Check(Database database, int seed)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        for (int i = 0; i < Documents; i++)
        {
            AttachmentValue? attachment = snapshot.Attachment($"docs{seed}/{i}", "a");
            Assert.NotNull(attachment);
            var bytes = new List<byte>();
            for (ReadOnlySpan<byte> piece; !(piece = snapshot.Content(attachment, bytes.Count)).IsEmpty;)
                bytes.AddRange(piece);
            Assert.Equal(Content(seed, i), bytes);
        }
    }

    private static byte[] Content(int seed, int i)
    {
        byte[] content = new byte[30_000];
        new Random((seed * 100) + i).NextBytes(content);
        return content;
    }

    /// <summary>Gives bytes up to a place, and the rest when it is told to.</summary>
    private sealed class PausedStream(byte[] bytes, int pause) : Stream
    {
        private readonly TaskCompletionSource _reached = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource _continue = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _at;

        public Task Reached => _reached.Task;

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => false;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public void Continue() => _continue.TrySetResult();

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (_at == pause)
            {
                _reached.TrySetResult();
                await _continue.Task.WaitAsync(cancellationToken);
            }

            int length = Math.Min(buffer.Length, (_at < pause ? pause : bytes.Length) - _at);
            bytes.AsMemory(_at, length).CopyTo(buffer);
            _at += length;
            return length;
        }

        public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
            ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

        public override int Read(byte[] buffer, int offset, int count) =>
            ReadAsync(buffer.AsMemory(offset, count)).AsTask().GetAwaiter().GetResult();

        public override void Flush()
        {
        }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();

        public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    }
}

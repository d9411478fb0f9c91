using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.S3;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Clients.Tests.S3;

/// <summary>
/// Places that stall, break, fail beside others and lose connections: what a backup and a restore make of them.
/// </summary>
public sealed class S3TroubleTests : IAsyncLifetime
{
    private const int PartBytes = 5 << 20;

    private readonly TemporaryDirectory _files = new();
    private S3Server? _server;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private S3Server Server => _server ?? throw new InvalidOperationException("The server was not started.");

    private string Folder => Path.Combine(_files.Path, "place");

    public async ValueTask InitializeAsync()
    {
        await Node.NodeClientTests.InstallClientAsync();
        _server = await S3Server.StartAsync();
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
            await _server.DisposeAsync();
        _files.Dispose();
    }

    [Fact]
    public async Task A_place_that_takes_parts_and_never_answers_is_given_up_with_its_reason_and_the_upload_is_aborted()
    {
        var clock = new HastyClock();
        await using var proxy = new S3Proxy(Server.Port) { Stalls = "partNumber=" };
        using BackupDestination place = Open(proxy.Url, clock);
        DestinationException error;
        await using (BackupUpload upload = await place.CreateAsync("stalled.full.backup", Cancel))
        {
            Task writing = Task.Run(
                async () =>
                {
                    await upload.WriteAsync(StoredContent.Draw(PartBytes + 1), Cancel);
                    await upload.CommitAsync(Cancel);
                },
                Cancel);
            while (!writing.IsCompleted)
                if (await proxy.Stalled.WaitAsync(100, Cancel))
                    clock.Expire();
            error = await Assert.ThrowsAsync<DestinationException>(() => writing);
        }

        Assert.Equal(DestinationFault.TooSlow, error.Fault);
        Assert.Contains("5 minutes", error.Message, StringComparison.Ordinal);
        Assert.Contains(
            proxy.Requests,
            static request => request.StartsWith("DELETE ", StringComparison.Ordinal)
                && request.Contains("uploadId=", StringComparison.Ordinal));
        Assert.Empty(await place.ListAsync("", Cancel));
    }

    [Fact]
    public async Task A_cancelled_backup_aborts_its_upload_and_leaves_nothing_at_either_place()
    {
        await using var proxy = new S3Proxy(Server.Port);
        using BackupDestination place = Open(proxy.Url, new HastyClock()), folder = new FolderDestination(Folder);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        proxy.At = (2L * PartBytes, cancel.CancelAsync);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () =>
        {
            await using var all = new UploadStream(
                [("s3", await place.CreateAsync("lost.full.backup", cancel.Token)), (
                    "folder", await folder.CreateAsync("lost.full.backup", cancel.Token))], TimeProvider.System, cancel.Token);
            while (true)
                await all.WriteAsync(StoredContent.Draw(1 << 20), cancel.Token);
        });

        Assert.Contains(
            proxy.Requests,
            static request => request.StartsWith("DELETE ", StringComparison.Ordinal)
                && request.Contains("uploadId=", StringComparison.Ordinal));
        Assert.Empty(await place.ListAsync("", Cancel));
        Assert.Empty(Directory.GetFiles(Folder));
    }

    [Fact]
    public async Task Of_several_places_the_one_that_fails_half_way_is_named_and_aborted_and_the_others_have_all_of_it()
    {
        const string Denied =
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 40\r\nConnection: close\r\n\r\n<Error><Code>AccessDenied</Code></Error>";
        byte[] content = StoredContent.Draw((3 * PartBytes) + 17);
        await using var proxy = new S3Proxy(Server.Port);
        proxy.At = (PartBytes, RefuseAsync);
        HastyClock clock = new(), clockOfOthers = new(); // whose time-outs are not due
        using BackupDestination failing = Open(proxy.Url, clock),
            whole = Open($"http://127.0.0.1:{Server.Port}", clockOfOthers, "other"),
            folder = new FolderDestination(Folder);
        await using (var all = new UploadStream(
            [("failing", await failing.CreateAsync("a.full.backup", Cancel)), (
                "whole",
                await whole.CreateAsync("a.full.backup", Cancel)), ("folder", await folder.CreateAsync("a.full.backup", Cancel))],
            clockOfOthers, Cancel))
        {
            Task writing = Task.Run(
                async () =>
                {
                    await all.WriteAsync(content, Cancel);
                    await all.CommitAsync(Cancel);
                },
                Cancel);
            while (!writing.IsCompleted)
                if (await proxy.Stalled.WaitAsync(100, Cancel))
                    clock.Expire();
            await writing;
            Assert.Equal("failing", Assert.Single(all.Failures).Key);
            Assert.IsType<DestinationException>(all.Failures["failing"]);
        }

        await StoredContent.AssertAsync(whole, "a.full.backup", content);
        await StoredContent.AssertAsync(folder, "a.full.backup", content);
        using BackupDestination direct = Open($"http://127.0.0.1:{Server.Port}", clockOfOthers);
        Assert.Empty(await direct.ListAsync("", Cancel));

        Task RefuseAsync()
        {
            proxy.Refuses = (int.MaxValue, Denied); // whoever connects from now on
            proxy.Stalls = "partNumber="; // and whoever has a connection
            return Task.CompletedTask;
        }
    }

    [Fact]
    public async Task A_reading_that_is_cut_again_and_again_goes_on_where_it_was()
    {
        byte[] content = StoredContent.Draw(PartBytes + 99);
        await using var proxy = new S3Proxy(Server.Port);
        var clock = new HastyClock();
        using BackupDestination place = Open(proxy.Url, clock);
        await using (BackupUpload upload = await place.CreateAsync("cut.full.backup", Cancel))
        {
            await upload.WriteAsync(content, Cancel);
            await upload.CommitAsync(Cancel);
        }

        proxy.Cuts = (3, 1_000_000);
        int before = proxy.Requests.Count, waits = clock.Waits;
        await StoredContent.AssertAsync(place, "cut.full.backup", content);
        Assert.Equal(0, proxy.Cuts.Left);
        Assert.True(clock.Waits >= waits + 3, "Nothing broke.");
        Assert.True(
            proxy.Requests.Skip(before)
                .Count(
                    static request => request.StartsWith("GET ", StringComparison.Ordinal)
                        && request.Contains("cut.full.backup", StringComparison.Ordinal)
                        && !request.Contains("list-type", StringComparison.Ordinal)) >= 4);
    }

    [Theory]
    [InlineData(BackupKind.Logical, false)]
    [InlineData(BackupKind.Snapshot, true)]
    public async Task A_chain_that_a_task_wrote_to_a_bucket_restores_from_there_through_broken_connections(
        BackupKind kind, bool diskFirst)
    {
        await using var catalog = new DatabaseCatalog(Path.Combine(_files.Path, "data"));
        Database shop = catalog.Create("shop");
        await using var scheduler = new BackupScheduler(
            new CatalogBackupSource(catalog),
            new DestinationProviders(new S3DestinationProvider(new HastyClock(), static () => 0.5)));
        var bucket = new DestinationSettings
        {
            Address = $"s3://backups/chain?endpoint=http://127.0.0.1:{Server.Port}",
            AccessKey = S3Server.AccessKey,
            SecretKey = S3Server.SecretKey
        };
        var task = new BackupTask
        {
            Name = "chain",
            Kind = kind,
            Destinations = diskFirst ? [bucket, new DestinationSettings { Address = Folder }] : [bucket],
            UploadsAfterDisk = diskFirst
        };
        long id = await scheduler.PutAsync("shop", task, Cancel);
        string[] names = new string[3];
        for (int step = 0; step < names.Length; step++)
        {
            await shop.WriteAsync(
                new WriteBatch().Put($"users/{step}", Encoding.UTF8.GetBytes($"{{\"n\":{step}}}")).Delete($"users/{step - 1}"),
                Cancel);
            BackupRunReport report = await scheduler.RunAsync("shop", id, isFull: step == 0, cancellationToken: Cancel);
            Assert.Null(report.Problem);
            Assert.Equal(
                (step > 0, task.Destinations.Count),
                (report.Report?.IsIncremental, report.Places.Count(static place => place.IsProven)));
            names[step] = report.Object;
        }

        await using var proxy = new S3Proxy(Server.Port) { Cuts = (2, 500) };
        using BackupDestination place = new S3DestinationProvider(new HastyClock(), static () => 0.5).Open(
            bucket with { Address = $"s3://backups/chain?endpoint={proxy.Url}" });
        if (diskFirst)
            Assert.All(
                names,
                name => Assert.Equal(
                    File.ReadAllBytes(Path.Combine(Folder, name)).Length,
                    place.ListAsync(name, Cancel).GetAwaiter().GetResult().Single(item => item.Name == name).LengthBytes));
        IReadOnlyList<RestorePoint> points = await BackupName.ListAsync(place, "shop", Cancel);
        BackupPart[] parts = [
            .. BackupName.ChainOf(points, points[0])
                .Select(point => new BackupPart(point.Object, async stop => await place.OpenAsync(point.Object, stop)))];
        Assert.Equal(names, parts.Select(static part => part.Name));
        await catalog.RestoreAsync("again", parts, encrypted: false, null, null, Cancel);
        Database again = Assert.IsType<Database>(catalog.Find("again"));
        Assert.Equal((shop.LastEtag, 1L), (again.LastEtag, again.GetStatistics().DocumentCount));
        BackupException missing = await Assert.ThrowsAsync<BackupException>(
            () => catalog.RestoreAsync("never", [parts[0], parts[2]], encrypted: false, null, null, Cancel));
        Assert.Equal(BackupFault.LinkMissing, missing.Fault);
        Assert.Null(catalog.Find("never"));
    }

    private static BackupDestination Open(string url, TimeProvider clock, string prefix = "of/tests") =>
        new S3DestinationProvider(clock, static () => 0.5).Open(
            new DestinationSettings
            {
                Address = $"s3://backups/{prefix}?endpoint={url}&part-mb=5",
                AccessKey = S3Server.AccessKey,
                SecretKey = S3Server.SecretKey
            });
}

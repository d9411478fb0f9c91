using Treepie.Documents.Tests.Backups;
using Treepie.Kinds;
using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>
/// The disk becomes full in the middle of an upload, at every length that it may have by then: the upload fails, and everything
/// is as it was, without a restart.
/// </summary>
public sealed class UploadsOnFullDisksTests : IDisposable
{
    private const int Pieces = 6, MostMore = 200;

    private readonly TemporaryDirectory _indexes = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _indexes.Dispose();

    [Fact]
    public async Task An_upload_that_finds_the_disk_full_leaves_everything_as_it_was()
    {
        int seed = Seed.Next();
        byte[] content = new byte[(Pieces * ContentRecord.PieceBytes) + 12_345];
        new Random(seed).NextBytes(content);
        var disk = new SimulatedDisk(new Random(seed));
        await using Database database = Open(disk, seed);
        await database.WriteAsync(new WriteBatch().Put("d/1", "{}"u8.ToArray()).Put("d/2", "{}"u8.ToArray()), Cancel);
        await PutAsync(database, "d/1", [1, 2, 3]);
        List<string> before = DatabaseText.Of(database);
        int refused = 0;
        for (int pieces = 0; pieces <= Pieces; pieces++)
        {
            var upload = database.BeginUpload();
            try
            {
                await upload.WriteAsync(content.AsMemory(0, pieces * ContentRecord.PieceBytes), Cancel);
                disk.CapacityBytes = 0; // others filled it
                for (int more = 0; more < MostMore; more++) // files have some room that nobody used yet
                    await upload.WriteAsync(content.AsMemory(0, ContentRecord.PieceBytes), Cancel);
            }
            catch (DiskFullException)
            {
                refused++;
            }
            finally
            {
                await upload.DisposeAsync();
            }

            disk.CapacityBytes = long.MaxValue;
            Assert.Equal(before, DatabaseText.Of(database));
            KindInvariants.Check(database);
        }

        Assert.Equal(Pieces + 1, refused);
        await PutAsync(database, "d/2", content);
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(content.Length, snapshot.Attachment("d/2", "a")!.SizeBytes);
    }

    private static async Task PutAsync(Database database, string id, byte[] content)
    {
        await using var upload = database.BeginUpload();
        await upload.WriteAsync(content, Cancel);
        await upload.CompleteAsync(Cancel);
        await database.WriteAsync(new WriteBatch().PutAttachment(id, "a", null, upload), Cancel);
    }

    private Database Open(SimulatedDisk disk, int seed)
    {
        StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, TimeProvider.System, new Random(seed), IsBackgroundAllowed: false),
            new StorageOptions { FirstJournalFileBytes = 64 << 10, MaxJournalFileBytes = 2 << 20 });
        try
        {
            return new Database(_indexes.Path, environment, new DatabaseOptions { Name = "full" });
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }
}

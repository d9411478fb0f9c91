using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Destinations;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>
/// Cards beside backups: one that was renamed, changed or belongs to another part is not believed, and the backup itself is
/// read.
/// </summary>
public sealed class BackupCardTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _files = new();
    private readonly List<string> _names = [];
    private FolderDestination? _place;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private FolderDestination Place => _place ?? throw new InvalidOperationException("The fixture has not been initialized.");

    private string Folder => Path.Combine(_files.Path, "place", "shop");

    public async ValueTask InitializeAsync()
    {
        _place = new FolderDestination(Path.Combine(_files.Path, "place"));
        await using Database database = Database.Open(Path.Combine(_files.Path, "shop"));
        BackupLink? link = null;
        for (int step = 0; step < 3; step++)
        {
            await database.WriteAsync(new WriteBatch().Put($"a/{step}", "{}"u8.ToArray()), Cancel);
            var content = new MemoryStream();
            BackupLink? since = link;
            BackupReport report = await database.BackupAsync(
                content, new BackupOptions { Kind = BackupKind.Snapshot, Since = link }, null, Cancel);
            link = report.Link;
            string name = BackupName.Of(
                "shop", new DateTime(2026, 1, 1, 0, step, 0, DateTimeKind.Utc), BackupKind.Snapshot, step > 0);
            await using (BackupUpload upload = await Place.CreateAsync(name, Cancel))
            {
                await upload.WriteAsync(content.ToArray(), Cancel);
                await upload.CommitAsync(Cancel);
            }

            await BackupCard.Of(name, report, since)!.WriteAsync(Place, Cancel); // a snapshot has one
            _names.Add(name);
        }
    }

    public ValueTask DisposeAsync()
    {
        Place.Dispose();
        _files.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task A_card_renamed_to_an_older_commit_does_not_give_an_older_state()
    {
        string card = CardOf(2);
        BackupCard said = BackupCard.TryParse("shop/" + Path.GetFileName(card))
            ?? throw new InvalidOperationException("The name of a card is not read.");
        string renamed = card.Replace($"-{said.Commit}-", "-1-", StringComparison.Ordinal);
        Assert.NotEqual(card, renamed);
        File.Move(card, renamed);
        await AssertWholeAsync();
    }

    [Fact]
    public async Task A_card_of_another_part_is_not_believed()
    {
        string of = Path.GetFileName(_names[2]), other = Path.GetFileName(_names[1]);
        File.Delete(CardOf(2));
        File.Move(CardOf(1), CardOf(1).Replace(other, of, StringComparison.Ordinal));
        await AssertWholeAsync();
    }

    [Fact]
    public async Task A_card_whose_content_was_changed_is_not_gone_on_from()
    {
        string card = CardOf(2), text = await File.ReadAllTextAsync(card, Cancel);
        BackupInventory before = await BackupInventory.ReadAsync(Place, "shop", null, Cancel);
        string link = Assert.IsType<ChainEnd>(await before.FindEndAsync(null, Cancel)).Link.ToString();
        int at = text.IndexOf(link[..40], StringComparison.Ordinal) + 20;
        await File.WriteAllTextAsync(card, text[..at] + (text[at] == 'a' ? 'b' : 'a') + text[(at + 1)..], Cancel);
        BackupInventory after = await BackupInventory.ReadAsync(Place, "shop", null, Cancel);
        Assert.Equal(link, Assert.IsType<ChainEnd>(await after.FindEndAsync(null, Cancel)).Link.ToString());
    }

    [Fact]
    public async Task A_card_without_checksums_is_believed_where_its_name_and_content_say_the_same()
    {
        BackupCard now = BackupCard.TryParse("shop/" + Path.GetFileName(CardOf(2)))
            ?? throw new InvalidOperationException("The name of a card is not read.");
        BackupCard old = await now.ReadAsync(Place, Cancel) ?? throw new InvalidOperationException("The card cannot be read.");
        File.Delete(CardOf(2));
        old = old with { Format = 1 };
        await old.WriteAsync(Place, Cancel);
        Assert.Equal(4, Path.GetFileName(CardOf(2)).Split('.')[^2].Count(static c => c == '-'));
        await File.WriteAllBytesAsync(
            Path.Combine(Folder, Path.GetFileName(_names[2])), "no backup: the card alone speaks for it"u8.ToArray(), Cancel);
        Assert.Equal(
            _names,
            (await BackupInventory.ReadAsync(Place, "shop", null, Cancel))
                .Select(new RestoreWish()).Parts
                .Select(static part => part.Name));

        File.Move(CardOf(2), CardOf(2).Replace($"-{old.Commit}-", "-1-", StringComparison.Ordinal));
        Assert.Equal(
            [_names[2]],
            (await BackupInventory.ReadAsync(Place, "shop", null, Cancel)).Unknown.Select(static point => point.Object));
    }

    [Fact]
    public async Task A_newest_part_that_nobody_can_read_is_not_passed_over_in_silence()
    {
        File.Delete(CardOf(2));
        await File.WriteAllBytesAsync(
            Path.Combine(Folder, Path.GetFileName(_names[2])), Encoding.UTF8.GetBytes("no backup at all"), Cancel);
        BackupInventory inventory = await BackupInventory.ReadAsync(Place, "shop", null, Cancel);
        BackupException error = Assert.Throws<BackupException>(() => inventory.Select(new RestoreWish()));
        Assert.Equal(BackupFault.NoSuchPoint, error.Fault);
        Assert.Contains(_names[2], error.Message, StringComparison.Ordinal);
        Assert.Equal(2, inventory.Select(new RestoreWish { Object = _names[1] }).Parts.Count);
    }

    private string CardOf(int part) => Directory.GetFiles(Folder, Path.GetFileName(_names[part]) + ".*.card").Single();

    private async Task AssertWholeAsync()
    {
        BackupInventory inventory = await BackupInventory.ReadAsync(Place, "shop", null, Cancel);
        BackupSelection selection = inventory.Select(new RestoreWish());
        Assert.Equal(_names, selection.Parts.Select(static part => part.Name));
        BackupReport report = await Database.RestoreAsync(
            selection.Parts, Path.Combine(_files.Path, "restored"), new RestoreOptions { StopAtCommit = selection.StopAtCommit },
            null, Cancel);
        Assert.Equal(3, report.Counts.Documents);
    }
}

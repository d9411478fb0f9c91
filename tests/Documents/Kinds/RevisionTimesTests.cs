using System.Text;
using Treepie.Backups;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>Revisions of a clock that was set back or ahead, and of what the database no longer knows.</summary>
public sealed class RevisionTimesTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly ManualClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(2)]
    [InlineData(null)]
    public async Task After_the_clock_was_set_back_the_newest_state_is_the_newest_revision(int? keep)
    {
        await using Database database = await OpenAsync(new RevisionsRule { MinimumToKeep = keep });
        await PutAsync(database, 1);
        _clock.Now += TimeSpan.FromMinutes(5);
        await PutAsync(database, 2);
        _clock.Now -= TimeSpan.FromHours(1);
        await PutAsync(database, 3);
        Assert.Equal(["{\"n\":3}", "{\"n\":2}"], States(database).Take(2));
        _clock.Now += TimeSpan.FromMinutes(1);
        await PutAsync(database, 4);
        Assert.Equal(["{\"n\":4}", "{\"n\":3}"], States(database).Take(2));
        await database.WriteAsync(new WriteBatch().Delete("d/1"), Cancel);
        Assert.Equal("deleted", States(database)[0]);
        using (DatabaseSnapshot snapshot = database.BeginRead())
            Assert.Equal("d/1", Assert.Single(snapshot.RevisionsBin()).Id);
        KindInvariants.Check(database);
    }

    [Fact]
    public async Task A_backup_keeps_the_order_of_revisions_that_a_clock_set_back_has_written()
    {
        using var dump = new MemoryStream();
        string[] before;
        await using (Database database = await OpenAsync(new RevisionsRule()))
        {
            await PutAsync(database, 1);
            _clock.Now -= TimeSpan.FromHours(1);
            await PutAsync(database, 2);
            before = States(database);
            await database.BackupAsync(dump, cancellationToken: Cancel);
        }

        dump.Position = 0;
        string restored = Path.Combine(_directory.Path, "restored");
        await Database.RestoreAsync(dump, restored, null, null, Cancel);
        await using Database again = Database.Open(restored);
        Assert.Equal(["{\"n\":2}", "{\"n\":1}"], before);
        Assert.Equal(before, States(again));
    }

    [Fact]
    public async Task Revisions_of_a_clock_that_was_ahead_go_with_those_that_follow_them()
    {
        await using Database database = await OpenAsync(
            new RevisionsRule { MinimumToKeep = 1, MinimumAgeToKeep = TimeSpan.FromDays(1) });
        _clock.Now = _clock.Now.AddYears(10);
        await PutAsync(database, 1);
        _clock.Now = _clock.Now.AddYears(-10);
        await PutAsync(database, 2);
        _clock.Now += TimeSpan.FromHours(1);
        await PutAsync(database, 3);
        Assert.Equal(3, States(database).Length);
        _clock.Now += TimeSpan.FromDays(2);
        Assert.Equal(2, await database.Revisions.EnforceAsync(Cancel));
        Assert.Equal(["{\"n\":3}"], States(database));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_document_whose_first_life_is_forgotten_stays_when_all_go_back_to_it(bool isRestored)
    {
        await using Database first = await OpenAsync(null);
        await PutAsync(first, 1);
        DateTime then = _clock.Now.UtcDateTime.AddHours(12);
        _clock.Now += TimeSpan.FromDays(1);
        await first.WriteAsync(new WriteBatch().Delete("d/1"), Cancel);
        _clock.Now += TimeSpan.FromDays(3);
        Assert.Equal(1, await first.CleanTombstonesAsync(TimeSpan.FromDays(2), Cancel));
        Database database = first;
        if (isRestored)
        {
            using var dump = new MemoryStream();
            await first.BackupAsync(dump, cancellationToken: Cancel);
            dump.Position = 0;
            await Database.RestoreAsync(dump, Path.Combine(_directory.Path, "restored"), null, null, Cancel);
            database = Database.Open(Path.Combine(_directory.Path, "restored"), first.Options);
        }

        try
        {
            await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
            _clock.Now += TimeSpan.FromDays(1);
            DateTime between = _clock.Now.UtcDateTime;
            _clock.Now += TimeSpan.FromDays(1);
            await PutAsync(database, 2);
            Assert.Equal(0, await database.Revisions.RevertToAsync(then, cancellationToken: Cancel));
            Assert.Equal(1, await database.Revisions.RevertToAsync(between, cancellationToken: Cancel)); // known not to be there
        }
        finally
        {
            await database.DisposeAsync();
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_was_cleaned_while_the_clock_was_behind_is_forgotten_as_late_as_it_was_deleted(bool isAtOnce)
    {
        await using Database database = await OpenAsync(null);
        await PutAsync(database, 1);
        DateTime then = _clock.Now.UtcDateTime.AddHours(12);
        _clock.Now += TimeSpan.FromDays(1);
        await database.WriteAsync(new WriteBatch().Delete("d/1"), Cancel);
        DateTimeOffset right = _clock.Now;
        _clock.Now = right.AddYears(-10);
        if (!isAtOnce)
        {
            await database.WriteAsync(new WriteBatch().Put("d/2", "{}"u8.ToArray()), Cancel);
            await database.WriteAsync(new WriteBatch().Delete("d/2"), Cancel);
            _clock.Now += TimeSpan.FromDays(3);
        }

        Assert.Equal(
            isAtOnce ? 1 : 2, await database.CleanTombstonesAsync(isAtOnce ? null : TimeSpan.FromDays(2), Cancel));
        _clock.Now = right.AddDays(4);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await PutAsync(database, 2);
        Assert.Equal(0, await database.Revisions.RevertToAsync(then, cancellationToken: Cancel));
    }

    [Fact]
    public async Task What_was_forgotten_before_its_time_was_recorded_is_unknown_until_later_deletions_are_forgotten()
    {
        await using Database database = await OpenAsync(null);
        await PutAsync(database, 1);
        DateTime then = _clock.Now.UtcDateTime.AddHours(12);
        _clock.Now += TimeSpan.FromDays(1);
        await database.WriteAsync(new WriteBatch().Delete("d/1"), Cancel);
        await database.CleanTombstonesAsync(null, Cancel);
        await database.Environment.WriteAsync(
            static transaction => transaction.GetOrCreateTree(TreeNames.Meta).Delete(TreeNames.MetaForgotten), Cancel);
        await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = new RevisionsRule() }, Cancel);
        await PutAsync(database, 2);
        Assert.Equal(0, await database.Revisions.RevertToAsync(then, cancellationToken: Cancel));

        await database.WriteAsync(new WriteBatch().Put("d/2", "{}"u8.ToArray()).IncrementCounter("d/2", "likes", 1), Cancel);
        await database.WriteAsync(new WriteBatch().DeleteCounter("d/2", "likes"), Cancel);
        Assert.Equal(1, await database.CleanTombstonesAsync(null, Cancel)); // says nothing of documents
        await database.WriteAsync(new WriteBatch().Put("d/3", "{}"u8.ToArray()), Cancel);
        await database.WriteAsync(new WriteBatch().Delete("d/2"), Cancel);
        Assert.Equal(0, await database.Revisions.RevertToAsync(then, cancellationToken: Cancel));
        Assert.Equal(1, await database.CleanTombstonesAsync(null, Cancel));
        _clock.Now += TimeSpan.FromDays(1);
        DateTime between = _clock.Now.UtcDateTime;
        _clock.Now += TimeSpan.FromDays(1);
        await database.WriteAsync(new WriteBatch().Put("d/4", "{}"u8.ToArray()), Cancel);
        Assert.Equal(1, await database.Revisions.RevertToAsync(between, cancellationToken: Cancel)); // d/4
    }

    [Theory]
    [InlineData("1", 0)]
    [InlineData("3", 0)]
    [InlineData("3,0", 1)]
    public async Task A_creation_that_does_not_say_what_was_forgotten_lets_no_document_go(string mark, int reverted)
    {
        await using Database database = await OpenAsync(null);
        DateTime then = _clock.Now.UtcDateTime;
        _clock.Now += TimeSpan.FromDays(1);
        await PutAsync(database, 1);
        using var dump = new MemoryStream(
            Encoding.UTF8.GetBytes(
                $$$"""
                {"BuildVersion":60000,"RevisionDocuments":[{"n":1,"@metadata":{"@id":"d/1","@collection":"@empty",
                "@last-modified":"{{{_clock.Now.UtcDateTime:O}}}","@flags":"HasRevisions, Revision",
                "@treepie-revision":"0,{{{_clock.Now.UtcTicks}}},0,{{{mark}}}"}}]}
                """));
        await database.ImportAsync(dump, new ImportOptions(), null, Cancel);
        Assert.Equal(["{\"n\":1}"], States(database));
        Assert.Equal(reverted, await database.Revisions.RevertToAsync(then, cancellationToken: Cancel));
    }

    private static string[] States(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [
            .. snapshot.Revisions("d/1")
                .Select(static revision => revision.IsDeletion ? "deleted" : Encoding.UTF8.GetString(revision.Body.Span))];
    }

    private static Task<IReadOnlyList<WriteResult>> PutAsync(Database database, int n) =>
        database.WriteAsync(new WriteBatch().Put("d/1", Encoding.UTF8.GetBytes($"{{\"n\":{n}}}")), Cancel);

    private async Task<Database> OpenAsync(RevisionsRule? rule)
    {
        Database database = Database.Open(
            Path.Combine(_directory.Path, "data"), new DatabaseOptions { TimeProvider = _clock });
        if (rule is not null)
            await database.Revisions.ConfigureAsync(new RevisionsConfiguration { Default = rule }, Cancel);
        return database;
    }
}

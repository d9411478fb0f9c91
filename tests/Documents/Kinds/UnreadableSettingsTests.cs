using System.Text;
using Treepie.Backups;
using Treepie.Kinds;
using Treepie.Lifecycle;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>A setting that cannot be read counts as absent, and is imported from no backup.</summary>
public sealed class UnreadableSettingsTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("expiration", "{}")]
    [InlineData("refresh", """{"Disabled":false,"FrequencySeconds":0}""")]
    [InlineData("data-archival", """{"Disabled":false,"FrequencySeconds":9223372036854775807}""")]
    [InlineData("revisions", "no JSON")]
    [InlineData("time-series", """{"PolicyCheckFrequency":"x"}""")]
    [InlineData("documents-compression", "[]")]
    [InlineData("analyzers", "{")]
    [InlineData("sorters", "")]
    public async Task A_database_opens_and_takes_writes_whatever_is_stored_as_a_setting(string name, string value)
    {
        using var directory = new TemporaryDirectory();
        using (var database = Database.Open(directory.Path))
        using (var batch = new WriteBatch(database.Options))
            await database.WriteAsync(batch.Setting(name, Encoding.UTF8.GetBytes(value)), Cancelled);

        using var again = Database.Open(directory.Path);
        using (var batch = new WriteBatch(again.Options))
            await again.WriteAsync(batch.Put("a/1", "{}"u8), Cancelled);
        DatabaseRecord record = again.GetRecord();
        Assert.Empty(record.Lifecycle);
        Assert.Null(record.Revisions);
        Assert.Null(record.TimeSeries);
        Assert.Null(record.Compression);
        Assert.Empty(record.Analyzers);
        Assert.Empty(record.Sorters);
        await again.Lifecycle.SetAsync(LifecycleTask.Expiration, new LifecycleSettings(), Cancelled);
        Assert.NotNull(again.Lifecycle.Get(LifecycleTask.Expiration));
    }

    [Theory]
    [InlineData("expiration", "expiration", "{}", false)]
    [InlineData("Expiration", "expiration", """{"Disabled":true,"FrequencySeconds":60}""", false)]
    [InlineData("other", "expiration", """{"Disabled":true,"FrequencySeconds":60}""", false)]
    [InlineData("expiration", "expiration", """{"Disabled":true,"FrequencySeconds":60}""", true)]
    [InlineData("of-programs/a", "of-programs/a", "[]", false)]
    [InlineData("of-programs/A", "of-programs/a", "{}", true)]
    public async Task An_import_takes_only_settings_that_can_be_read_and_a_restore_opens(
        string name, string key, string value, bool isTaken)
    {
        byte[] dump = Encoding.UTF8.GetBytes(
            $$"""{"TreepieSettings":[{"Key":"{{Convert.ToBase64String(KindKey.OfName(Kind.Setting, default, Encoding.UTF8.GetBytes(key)))}}","Name":"{{name}}","Value":"{{Convert.ToBase64String(Encoding.UTF8.GetBytes(value))}}"}]}""");
        using var directory = new TemporaryDirectory();
        using (var database = Database.Open(Path.Combine(directory.Path, "imported")))
        {
            BackupReport report = await database.ImportAsync(new MemoryStream(dump), cancellationToken: Cancelled);
            Assert.Equal(new BackupSection("TreepieSettings", isTaken ? 1 : 0, isTaken ? 0 : 1), Assert.Single(report.Sections));
            using DatabaseSnapshot snapshot = database.BeginRead();
            Assert.Equal(isTaken ? value : null, snapshot.Setting(key) is { } json ? Encoding.UTF8.GetString(json) : null);
        }

        string path = Path.Combine(directory.Path, "restored");
        await Database.RestoreAsync(new MemoryStream(dump), path, null, null, Cancelled);
        using var restored = Database.Open(path);
        Assert.Equal(0, restored.GetStatistics().DocumentCount);
    }
}

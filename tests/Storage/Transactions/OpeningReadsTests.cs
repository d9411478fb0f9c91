using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// The reads of the data file during opening. One disk access for each would be most of the time that opening takes.
/// </summary>
public sealed class OpeningReadsTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Opening_reads_both_meta_pages_at_once_and_announces_the_catalogue_before_anybody_asks_for_it(bool readOnly)
    {
        using var directory = new TemporaryDirectory();
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path))
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));

        List<(long Offset, long Length)> read = [], announced = [];
        var files = new WatchedFiles(new DiskFileSystem(directory.Path))
        {
            OnDataRead = (offset, length) => read.Add((offset, length)),
            OnDataAnnounced = (offset, length) => announced.Add((offset, length))
        };
        using StorageEnvironment opened = StorageEnvironment.Open(
            new World(files, TimeProvider.System, new Random(1), true), new StorageOptions { ReadOnly = readOnly });
        (long, long) meta = (0, FormatLimits.FirstDataPage * PageLayout.SizeBytes);
        Assert.Equal([meta], read);
        Assert.Equal(
            [meta, (opened.State.Current.Catalogue.Root.Number * PageLayout.SizeBytes, PageLayout.SizeBytes)], announced);
        using ReadTransaction transaction = opened.BeginRead();
        Assert.True(transaction.FindTree("t")!.Contains("k"u8)); // put above
    }
}

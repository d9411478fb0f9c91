using Treepie.Bench.Measuring;
using Treepie.Bench.Suites.Computing;

namespace Treepie.Bench.Suites;

/// <summary>What indexes compute: fields, and groups with counts and sums.</summary>
internal sealed class ComputingSuite : ISuite
{
    public string Name => "computing";

    public string Question =>
        """
        What do computed indexes cost, and their answers? Orders of a thousand cities, embedded. *Building*: from the documents to
        the first answer of `from Orders group by City select City, count(), sum(Freight)`, which creates its index; SQLite makes
        a table of the same groups from JSON in another (`create table … as select … group by`). *One change*: a document of a
        group of the given size is put, and the query for this group waits for it. *An answer*: the ten largest groups; SQLite
        groups the table of documents. *Mapping*: three fields of orders and of films, from the definition to the last entry, by a
        map of paths, in C#, by a class of the program, and in JavaScript (goal: 100,000 films a second per core), on one thread
        and on two; the limit only parses the JSON. *Patches*: one number of every order.
        """.ReplaceLineEndings("\n");

    public async Task<IReadOnlyList<BenchRow>> RunAsync(bool quick, TextWriter progress, CancellationToken cancellationToken) =>
    [
        .. await MapMeasurements.RunAsync(quick, progress, cancellationToken).ConfigureAwait(false),
        .. await GroupMeasurements.RunAsync(quick, progress, cancellationToken).ConfigureAwait(false),
    ];
}

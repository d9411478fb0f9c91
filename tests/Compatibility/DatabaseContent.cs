using System.Globalization;
using System.Text;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.Compatibility.Tests;

/// <summary>What a database answers, as lines of text.</summary>
internal static class DatabaseContent
{
    private static readonly string[] _queries =
    [
        "from Orders where City = 'Reims' and Freight > 30 order by Freight as double",
        "from Orders where search(Note, 'quick fox') order by id()",
        "from index 'Orders/ByPlace' where spatial.within(Place, spatial.circle(100, 51.25, 4.03))",
    ];

    /// <summary>Every document with its change vector and metadata, every identity, and the answers to some queries.</summary>
    public static async Task<List<string>> OfAsync(Database database, CancellationToken cancellationToken)
    {
        List<string> lines = [];
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            using (DocumentCursor cursor = snapshot.ByEtag())
            {
                while (cursor.MoveNext())
                {
                    Document document = cursor.Current;
                    lines.Add($"{document.IdText()} {document.CollectionName} {document.ChangeVector} "
                        + $"{Encoding.UTF8.GetString(document.Metadata)} {Encoding.UTF8.GetString(document.Body)}");
                }
            }

            lines.AddRange(
                snapshot.Identities()
                    .Select(identity => string.Create(CultureInfo.InvariantCulture, $"{identity.Key} {identity.Value}")));
            lines.Add(string.Create(CultureInfo.InvariantCulture, $"{snapshot.TombstoneCount} deleted"));
        }

        foreach (string text in _queries)
        {
            using QueryResults results = await database.QueryAsync(
                new QueryRequest { Text = text, WaitForNonStaleResults = true, WaitTimeout = TimeSpan.FromMinutes(1) },
                cancellationToken);
            var ids = new List<string>();
            while (results.MoveNext())
                ids.Add(results.Current.IdText());
            lines.Add(
                $"{text}: {string.Join(", ", text.Contains("order by", StringComparison.Ordinal) ? ids : ids.Order(StringComparer.Ordinal))}");
        }

        return lines;
    }
}

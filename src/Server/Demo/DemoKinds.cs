using System.Globalization;
using System.Text;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Demo;

/// <summary>
/// The related data of the demo, generated here and always the same: a picture and a counter of likes for products, and a
/// year of stock prices for companies. Existing data is left unchanged.
/// </summary>
internal static class DemoKinds
{
    /// <summary>The names of the picture, the counter and the time series.</summary>
    public const string Picture = "picture.svg", Likes = "likes", StockPrices = "StockPrices";

    /// <summary>The number of products with a picture: the first ones.</summary>
    private const int Pictures = 12;

    /// <summary>The number of orders that have a revision from before they were shipped: the first ones.</summary>
    public const int OrdersWithHistory = 20;

    private static readonly DateTime _firstDay = new(2025, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    /// <summary>Configures revisions and the names of time series values; called before documents are loaded.</summary>
    public static async Task ConfigureAsync(Database database, CancellationToken cancellationToken)
    {
        await database.Revisions.ConfigureAsync(
            new RevisionsConfiguration
            {
                Collections = new Dictionary<string, RevisionsRule> { ["Orders"] = new() { MinimumToKeep = 10 } },
            },
            cancellationToken);
        await database.TimeSeriesPolicies.ConfigureAsync(
            new TimeSeriesConfiguration().With("Companies", StockPrices, ["Open", "Close", "High", "Low", "Volume"]),
            cancellationToken);
    }

    /// <summary>Adds related data to existing documents.</summary>
    public static async Task LoadAsync(Database database, CancellationToken cancellationToken)
    {
        string[] products, companies;
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            products = IdsOf(snapshot, "Products");
            companies = IdsOf(snapshot, "Companies");
        }

        foreach (string product in products)
            await AddToProductAsync(database, product, cancellationToken);
        foreach (string company in companies)
            using (var batch = new WriteBatch(database.Options))
                if (!HasPrices(database, company))
                    await database.WriteAsync(
                        batch.TimeSeries(company, StockPrices, [.. Prices(NumberOf(company))]), cancellationToken);
    }

    /// <summary>Returns the number in an id such as <c>orders/12-A</c>; 0 if there is none.</summary>
    public static int NumberOf(string id) =>
        int.TryParse(
            id.AsSpan(id.IndexOf('/') + 1).TrimEnd("-A"), NumberStyles.None, CultureInfo.InvariantCulture, out int number)
            ? number
            : 0;

    private static string[] IdsOf(DatabaseSnapshot snapshot, string collection)
    {
        var ids = new List<string>();
        using DocumentCursor cursor = snapshot.ByCollection(collection);
        while (cursor.MoveNext())
            if (Encoding.UTF8.GetString(cursor.Current.Id) is var id && NumberOf(id) > 0)
                ids.Add(id);
        return [.. ids];
    }

    private static bool HasPrices(Database database, string company)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.TimeSeries(company, StockPrices).Any();
    }

    private static async Task AddToProductAsync(Database database, string product, CancellationToken cancellationToken)
    {
        int number = NumberOf(product);
        using var batch = new WriteBatch(database.Options);
        bool hasLikes, hasPicture;
        using (DatabaseSnapshot snapshot = database.BeginRead())
        {
            hasLikes = snapshot.Counter(product, Likes) is not null;
            hasPicture = snapshot.Attachment(product, Picture) is not null;
        }

        if (!hasLikes)
            batch.IncrementCounter(product, Likes, (number * 37 % 101) + 3);
        await using var upload = database.BeginUpload();
        if (!hasPicture && number <= Pictures)
        {
            await upload.WriteAsync(Encoding.UTF8.GetBytes(Draw(number)), cancellationToken);
            await upload.CompleteAsync(cancellationToken);
            batch.PutAttachment(product, Picture, "image/svg+xml", upload);
        }

        if (batch.Count > 0)
            await database.WriteAsync(batch, cancellationToken);
    }

    /// <summary>Draws a jar with a label, coloured by number.</summary>
    private static string Draw(int number) => string.Create(
        CultureInfo.InvariantCulture,
        $"""
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 100" width="160" height="200">
              <rect x="18" y="4" width="44" height="14" rx="4" fill="hsl({number * 47 % 360} 40% 35%)"/>
              <rect x="10" y="16" width="60" height="80" rx="12" fill="hsl({number * 47 % 360} 60% 70%)"/>
              <rect x="16" y="42" width="48" height="32" rx="3" fill="white"/>
              <text x="40" y="65" font-family="sans-serif" font-size="20" text-anchor="middle">{number}</text>
            </svg>

            """);

    /// <summary>
    /// Returns open, close, high, low and volume of each weekday of a year: a random walk with the number as its seed.
    /// </summary>
    private static IEnumerable<TimeSeriesPoint> Prices(int number)
    {
        ulong state = (ulong)number * 0x9E3779B97F4A7C15;
        double close = 20 + (number * 7 % 80);
        for (DateTime day = _firstDay; day.Year == _firstDay.Year; day = day.AddDays(1))
        {
            if (day.DayOfWeek is DayOfWeek.Saturday or DayOfWeek.Sunday)
                continue;
            double open = close;
            close = Math.Round(open * (1 + ((Next() - 0.5) * 0.04)), 2);
            yield return new TimeSeriesPoint(
                day.AddHours(17),
                [open, close, Math.Round(Math.Max(open, close) * (1 + (Next() * 0.01)), 2),
                    Math.Round(Math.Min(open, close) * (1 - (Next() * 0.01)), 2), Math.Round(1_000 + (Next() * 9_000))]);
        }

        // xorshift64*, from 0 (inclusive) to 1 (exclusive)
        double Next()
        {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            return (state * 0x2545F4914F6CDD1D >> 11) / (double)(1UL << 53);
        }
    }
}

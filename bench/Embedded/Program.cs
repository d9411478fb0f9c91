using System.Diagnostics;
using System.Globalization;
using Treepie;
using Treepie.Bench.Embedded;
using Treepie.Sessions;

// cold <engine> <folder>: milliseconds from the first line to the order that was asked for.
// warm <engine> <folder> <orders> <seconds>: microseconds of a load, a query for equality, the first 20 in an order, a change.
long began = Stopwatch.GetTimestamp();
using IEmbeddedEngine engine = Open(args[1], args[2]);
if (args[0] == "cold")
{
    BenchOrder found = engine.ByCode(BenchOrder.CodeOf(7));
    Print(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
    return found.Id == 7 ? 0 : 1;
}

int[] ids = BenchOrder.SomeOf(int.Parse(args[3], CultureInfo.InvariantCulture));
string[] codes = [.. ids.Select(BenchOrder.CodeOf)];
double seconds = double.Parse(args[4], CultureInfo.InvariantCulture);
Measure(2_000, i => engine.Load(ids[i % ids.Length]));
Measure(1_000, i => engine.ByCode(codes[i % codes.Length]));
Measure(200, _ => engine.Cheapest());
Measure(200, i => engine.Change(ids[i % ids.Length]));
return 0;

// The median of rounds of so many calls, the first fifth of the time left out.
void Measure(int calls, Action<int> call)
{
    List<double> rounds = [];
    var clock = Stopwatch.StartNew();
    for (int at = 0; clock.Elapsed.TotalSeconds < seconds; at += calls)
    {
        long start = Stopwatch.GetTimestamp();
        for (int i = 0; i < calls; i++)
            call(at + i);
        if (clock.Elapsed.TotalSeconds > seconds / 5)
            rounds.Add(Stopwatch.GetElapsedTime(start).TotalMicroseconds / calls);
    }

    rounds.Sort();
    Print(rounds[rounds.Count / 2]);
}

static void Print(double value) => Console.WriteLine(value.ToString(CultureInfo.InvariantCulture));

static IEmbeddedEngine Open(string engine, string folder)
{
    if (engine != "treepie")
        return new SqliteEngine(folder, OrderContext.Default.BenchOrder);
    var options = new SessionOptions { Json = OrderContext.Default.Options };
    return new TreepieEngine(folder, database => database.OpenSession(options), database => database.BulkInsert(options));
}

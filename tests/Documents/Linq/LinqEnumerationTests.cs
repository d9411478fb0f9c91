using System.Linq.Expressions;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Linq;

/// <summary>Enumerations, stored by name or as numbers, with values that have no name.</summary>
public sealed class LinqEnumerationTests : IDisposable
{
    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Few of its values have names.</summary>
    public enum Grade
    {
        Low = 1,
        High = 10,
    }

    /// <summary>Flags.</summary>
    [Flags]
    public enum Marks
    {
        None = 0,
        Red = 1,
        Blue = 2,
    }

    /// <summary>Stored by name, and beyond what is signed.</summary>
    public enum Depth : ulong
    {
        Flat = 0,
        Deep = ulong.MaxValue,
    }

    public void Dispose() => _database.Dispose();

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Ranges_and_other_elements_find_values_without_a_name(bool isNamed)
    {
        List<Thing> things =
        [
            .. Enumerable.Range(-2, 16).Select(i => new Thing
            {
                Grade = (Grade)i,
                Marks = (Marks)(i & 3),
                Kind = (ParcelKind)i,
                Depth = i < 0 ? Depth.Deep : (Depth)(ulong)i,
                Kinds = i % 3 == 0 ? [] : i % 3 == 1 ? [(ParcelKind)i] : [ParcelKind.Large, (ParcelKind)i],
                Grades = i % 2 == 0 ? [(Grade)i] : [Grade.Low, (Grade)(-i)],
            }),
        ];
        JsonSerializerOptions? numbers = isNamed
            ? null
            : new JsonSerializerOptions { TypeInfoResolver = new DefaultJsonTypeInfoResolver() };
        using Database database = Database.OpenInMemory(new DatabaseOptions { Json = numbers });
        using DocumentSession session = database.OpenSession();
        foreach (Thing thing in things)
            session.Store(thing);
        await session.SaveChangesAsync(Token);
        Expression<Func<Thing, bool>>[] conditions =
        [
            thing => thing.Grade > Grade.Low,
            thing => thing.Grade <= (Grade)7,
            thing => thing.Grade < Grade.Low,
            thing => (int)thing.Grade >= 300,
            thing => thing.Kind > ParcelKind.Large,
            thing => thing.Kind <= ParcelKind.Large,
            thing => thing.Kind < (ParcelKind)7,
            thing => !(thing.Kind < (ParcelKind)7),
            thing => thing.Depth > Depth.Flat,
            thing => thing.Depth >= Depth.Deep,
            thing => thing.Kinds.Any(kind => kind != ParcelKind.Large),
            thing => thing.Kinds.Any(kind => kind != (ParcelKind)4),
            thing => thing.Kinds.Any(kind => kind > ParcelKind.Large),
            thing => thing.Kinds.All(kind => kind == ParcelKind.Large),
            thing => thing.Grades.Any(grade => grade != Grade.Low),
            thing => thing.Grades.Any(grade => grade != Grade.Low && grade > (Grade)(-5)),
        ];
        if (!isNamed)
            conditions =
            [
                .. conditions,
                thing => thing.Marks >= Marks.Blue,
                thing => thing.Marks < (Marks.Red | Marks.Blue),
            ];
        foreach (Expression<Func<Thing, bool>> condition in conditions)
            Assert.Equal(
                things.Where(condition.Compile()).Select(thing => thing.Id).Order(),
                (await session.Query<Thing>().Where(condition).ToListAsync(Token)).Select(thing => thing.Id).Order());
    }

    [Fact]
    public void Ranges_of_flags_stored_by_name_are_refused_with_advice()
    {
        using DocumentSession session = _database.OpenSession();
        Assert.Equal("from Things where Marks = $p0", session.Query<Thing>().Where(t => t.Marks == Marks.Red).ToRql().Text);
        Assert.Contains(
            "store enumerations as numbers",
            Assert.Throws<NotSupportedException>(
                () => session.Query<Thing>().Where(t => t.Marks >= Marks.Blue).ToRql()).Message,
            StringComparison.Ordinal);

        // Elements are looked at one by one, where another name is another value.
        Assert.Equal(
            "from Things filter any(Several as _e0, _e0 != $p1)",
            session.Query<Thing>().Where(t => t.Several.Any(mark => mark != Marks.Blue)).ToRql().Text);
    }

    private sealed class Thing
    {
        public string? Id { get; set; }

        public Grade Grade { get; set; }

        public ParcelKind Kind { get; set; }

        public Depth Depth { get; set; }

        public Marks Marks { get; set; }

        public List<ParcelKind> Kinds { get; set; } = [];

        public List<Grade> Grades { get; set; } = [];

        public List<Marks> Several { get; set; } = [];
    }
}

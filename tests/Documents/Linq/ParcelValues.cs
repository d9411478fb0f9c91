namespace Treepie.Documents.Tests.Linq;

/// <summary>Random values of the members of <see cref="Parcel"/>, few enough that conditions meet them.</summary>
internal static class ParcelValues
{
    public static readonly string[] Words =
    [
        "ash", "O'Neill", "say \"so\"", "back\\slash", "Ångström", "日本", "😀", "a\nb", "null", "$p0", "*", "ash*", " ash",
        "true", "1", "1.0", "", "x}y{z", "it''s", "[[VALUE]]",
    ];

    public static readonly decimal[] Prices =
        [0m, 0.1m, 0.10m, 1.005m, -3m, 79228162514264337593543950335m, 0.0000000000000000001m, 12345678901234567.89m];

    public static readonly long[] Serials =
        [0, 1, -1, 9007199254740992, 9007199254740993, 9007199254740994, long.MaxValue, long.MaxValue - 1, long.MinValue];

    public static readonly Guid[] Guids =
        [.. Enumerable.Range(0, 6).Select(i => new Guid(i * 7919, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))];

    public static ParcelBox Box(Random random) => new(Pick(random, Words), Day(random))
    {
        Seal = random.Next(3) == 0 ? null : Pick(random, Guids),
        Worth = random.Next(3) == 0 ? null : random.Next(100) / 10m,
        Kind = random.Next(3) == 0 ? null : Kind(random),
        Takes = Span(random),
        At = Moment(random),
        Ratio = Real(random),
        IsFull = random.Next(3) switch { 0 => null, 1 => true, _ => false },
    };

    public static ParcelKind Kind(Random random) => Pick(random, Enum.GetValues<ParcelKind>());

    public static DateTimeOffset Moment(Random random) =>
        new DateTimeOffset(2024, 3, 1, 0, 0, 0, TimeSpan.FromHours(random.Next(-11, 13))).AddMinutes(random.Next(3000))
            .AddTicks(random.Next(3) == 0 ? random.Next(10_000_000) : 0);

    public static DateOnly Day(Random random) => new DateOnly(2024, 2, 20).AddDays(random.Next(30));

    public static TimeOnly Hour(Random random) =>
        new TimeOnly(random.Next(24), random.Next(2)).Add(TimeSpan.FromTicks(random.Next(3) == 0 ? random.Next(10_000_000) : 0));

    public static TimeSpan Span(Random random) =>
        TimeSpan.FromMinutes(random.Next(-50, 3000)) * (random.Next(3) == 0 ? 20 : 1);

    public static float Real(Random random) => random.Next(-50, 50) / 10f;

    public static T Pick<T>(Random random, T[] values) => values[random.Next(values.Length)];
}

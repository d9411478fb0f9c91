using System.Text.Json.Serialization;

namespace Treepie.Bench.Embedded;

/// <summary>How orders are written where nothing may be found out by reflection.</summary>
[JsonSerializable(typeof(BenchOrder))]
internal sealed partial class OrderContext : JsonSerializerContext;

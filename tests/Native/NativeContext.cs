using System.Text.Json.Serialization;

namespace Treepie.NativeProgram;

/// <summary>How its types are written, without reflection.</summary>
[JsonSourceGenerationOptions(UseStringEnumConverter = true)]
[JsonSerializable(typeof(Item))]
[JsonSerializable(typeof(Owner))]
[JsonSerializable(typeof(ItemRow))]
[JsonSerializable(typeof(Place))]
[JsonSerializable(typeof(PlaceRow))]
[JsonSerializable(typeof(CountryRow))]
[JsonSerializable(typeof(Animal))]
[JsonSerializable(typeof(Bird))]
[JsonSerializable(typeof(Note))]
[JsonSerializable(typeof(Heat))]
[JsonSerializable(typeof(string[]))]
internal sealed partial class NativeContext : JsonSerializerContext;

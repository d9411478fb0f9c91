using System.Text.Json.Serialization;

namespace Treepie.NativeProgram;

/// <summary>Documents of several types in one collection.</summary>
[JsonDerivedType(typeof(Bird), "bird")]
internal abstract class Animal
{
    public Guid Id { get; set; }

    public string Name { get; set; } = "";
}

/// <summary>One of the types.</summary>
internal sealed class Bird : Animal
{
    public int Wingspan { get; set; }
}

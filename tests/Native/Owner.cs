namespace Treepie.NativeProgram;

/// <summary>Who owns items.</summary>
internal sealed class Owner
{
    public int Id { get; set; }

    public string Name { get; set; } = "";
}

using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Stores a setting of the database, JSON under a name, or deletes it.</summary>
internal sealed class SettingCommand(string name, byte[]? json) : KindCommand
{
    public override bool IsDelete => json is null;

    public override KindResult Apply(IKindHost host)
    {
        byte[] utf8 = KindNames.Encode("a setting", name), key = KindKey.OfName(Kind.Setting, default, utf8);
        bool isDone = json is not null ? host.Kinds.Put(key, utf8, json, host.NextEtag(), host.NowTicks)
            : host.Kinds.TryGet(key, out _) && host.Kinds.Delete(key, host.NextEtag(), host.NowTicks);
        return new RestoredResult(isDone);
    }
}
